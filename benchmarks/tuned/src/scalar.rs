//! Much arithmetic for each element: prices of options.

use gpu_std::prelude::*;

/// The parameters that all options have.
const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.3;

/// The distribution function of the normal distribution, by Hull's polynomial.
fn normal(d: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
    let factors = [1.330_274_5, -1.821_255_9, 1.781_477_9, -0.356_563_78, 0.319_381_53];
    let polynomial = factors.iter().fold(0.0, |sum, factor| (sum + factor) * k);
    let tail = 0.398_942_3 * (-0.5 * d * d).exp() * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}

/// The prices of a call and a put (Black and Scholes).
fn price(stock: f32, strike: f32, years: f32) -> (f32, f32) {
    let root = years.sqrt();
    let d1 = ((stock / strike).ln() + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years) / (VOLATILITY * root);
    let (first, second) = (normal(d1), normal(d1 - VOLATILITY * root));
    let discounted = strike * (-RATE * years).exp();
    (stock * first - discounted * second, discounted * (1.0 - second) - stock * (1.0 - first))
}

/// The prices of many options.
#[kernel(
    block = 256,
    no_panics,
    requires = stocks.len() >= calls.len() && strikes.len() >= calls.len() && years.len() >= calls.len()
)]
pub fn black_scholes(
    stocks: &[f32],
    strikes: &[f32],
    years: &[f32],
    mut calls: PerThread<f32>,
    mut puts: PerThread<f32>,
) {
    if let (Some((i, call)), Some((_, put))) = (calls.first_mut(), puts.first_mut()) {
        (*call, *put) = price(stocks[i], strikes[i], years[i]);
    }
}
