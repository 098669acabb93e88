//! The prices of a million options, and a picture of the price of one by time and price of the stock.

use std::path::Path;

use elementwise_kernels::{Prices, black_scholes};
use gpu_std::rng::{Generator, Xoroshiro128Plus};
use gpukernel::Module;
use gpukernel_array::{Array, Array1, Array2, ArrayFunction, Result};

use crate::colours::colour;

/// Of a year.
const RATE: f64 = 0.02;
const VOLATILITY: f64 = 0.3;

/// Prices of stocks, prices at which options buy or sell them, and the years until then.
fn inputs(module: &Module, count: usize) -> Result<[Array1<f64>; 3]> {
    let mut rng = Xoroshiro128Plus::new(1);
    let mut random = |from: f64, to: f64| {
        let values: Vec<f64> = (0..count).map(|_| from + (to - from) * rng.uniform::<f64>()).collect();
        Array::from_vec(module.device(), values)
    };
    Ok([random(5.0, 30.0)?, random(1.0, 100.0)?, random(0.25, 10.0)?])
}

/// Prices of options to buy at 50: one row for each time, from two years to nearly none, one column for each price of the stock, from 25 to 75.
fn surface(module: &Module, rows: usize, columns: usize) -> Result<Array2<Prices>> {
    let device = module.device();
    let prices = Array::linspace(device, 25.0, 75.0, columns)?;
    let years = Array::linspace(device, 2.0, 2.0 / rows as f64, rows)?.into_shape((rows, 1))?;
    black_scholes::apply(module, (&prices, 50.0, &years, RATE, VOLATILITY))
}

pub(crate) fn print(module: &Module, output: &Path) -> anyhow::Result<()> {
    let [price, strike, years] = inputs(module, 1_000_000)?;
    let mut prices = Array::zeros(module.device(), price.len())?;
    let time = example_support::mean_time(module.device(), 10, || {
        black_scholes::apply_into(module, (&price, &strike, &years, RATE, VOLATILITY), &mut prices)
    })?;
    println!("{} options in {:.3} ms", price.len(), time.as_secs_f64() * 1e3);
    let hull = black_scholes(42.0, 40.0, 0.5, 0.1, 0.2);
    println!("a stock of 42, to buy or sell at 40 in half a year: {:.4}, {:.4}", hull.call, hull.put);

    let (rows, columns) = (300, 400);
    let calls: Vec<f64> =
        surface(module, rows, columns)?.to_vec()?.iter().map(|prices| prices.call).collect();
    example_support::write_colour(output, columns, &drawn(&calls))
}

/// A colour for each price, with a white line at each multiple of 5.
fn drawn(prices: &[f64]) -> Vec<[u8; 3]> {
    let largest = prices.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let pixel =
        |price: &f64| if price % 5.0 < 0.1 && *price > 1.0 { [255; 3] } else { colour(price / largest) };
    prices.iter().map(pixel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_every_device;

    /// An option as the discounted mean of what it pays, over all prices of the stock, which is log-normally distributed: by Simpson's rule.
    fn expected(price: f64, strike: f64, years: f64, rate: f64, volatility: f64) -> Prices {
        let deviation = volatility * years.sqrt();
        let middle = price.ln() + (rate - 0.5 * volatility * volatility) * years;
        let mean = |pays: &dyn Fn(f64) -> f64, from: f64, to: f64| {
            let steps = 4000;
            let step = (to - from) / f64::from(steps);
            let weighted = (0..=steps).map(|i| {
                let z = from + step * f64::from(i);
                let weight = if i == 0 || i == steps { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
                weight * pays((middle + deviation * z).exp()) * (-0.5 * z * z).exp()
            });
            (-rate * years).exp() * weighted.sum::<f64>() * step / 3.0 / std::f64::consts::TAU.sqrt()
        };
        // Where the stock is worth the strike price, in deviations.
        let bend = ((strike.ln() - middle) / deviation).clamp(-12.0, 12.0);
        Prices {
            call: mean(&|price| price - strike, bend, 12.0),
            put: mean(&|price| strike - price, -12.0, bend),
        }
    }

    /// Hull, "Options, Futures, and Other Derivatives": 4.76 and 0.81.
    #[test]
    fn the_example_of_a_textbook() {
        on_every_device(|module| {
            let price = Array::from_vec(module.device(), [42.0])?;
            let prices = black_scholes::apply(module, (&price, 40.0, 0.5, 0.1, 0.2))?.to_vec()?;
            let [Prices { call, put }] = prices[..] else { panic!() };
            assert_eq!((format!("{call:.2}"), format!("{put:.2}")), ("4.76".to_owned(), "0.81".to_owned()));
            let expected = expected(42.0, 40.0, 0.5, 0.1, 0.2);
            assert!((call - expected.call).abs() < 1e-9 && (put - expected.put).abs() < 1e-9);
            Ok(())
        });
    }

    #[test]
    fn a_million_options_are_worth_what_they_pay_on_average() {
        on_every_device(|module| {
            let [price, strike, years] = inputs(module, 1_000_000)?;
            let prices =
                black_scholes::apply(module, (&price, &strike, &years, RATE, VOLATILITY))?.to_vec()?;
            let (price, strike, years) = (price.to_vec()?, strike.to_vec()?, years.to_vec()?);
            for (i, Prices { call, put }) in prices.into_iter().enumerate() {
                // To buy and to owe the right to sell is to have the stock, and to owe its price.
                let parity = price[i] - strike[i] * (-RATE * years[i]).exp();
                assert!((call - put - parity).abs() < 1e-12 * strike[i].max(1.0), "option {i}");
                if i % 1000 == 0 {
                    let expected = expected(price[i], strike[i], years[i], RATE, VOLATILITY);
                    let error = (call - expected.call).abs().max((put - expected.put).abs());
                    assert!(error < 1e-8, "option {i}: {call} and {put}, {expected:?}");
                }
            }
            Ok(())
        });
    }

    #[test]
    fn rows_are_times_and_columns_are_prices() {
        on_every_device(|module| {
            let surface = surface(module, 4, 3)?.to_ndarray()?;
            for ((row, column), prices) in surface.indexed_iter() {
                let (price, years) = (25.0 + 25.0 * column as f64, 2.0 - 0.5 * row as f64);
                let expected = expected(price, 50.0, years, RATE, VOLATILITY);
                assert!((prices.call - expected.call).abs() < 1e-9, "({row}, {column})");
            }
            Ok(())
        });
    }

    #[test]
    fn lines_are_where_prices_are_multiples_of_five() {
        assert_eq!(drawn(&[0.0, 5.05, 4.95, 10.0]), [[68, 1, 84], [255; 3], colour(0.495), [255; 3]]);
    }
}
