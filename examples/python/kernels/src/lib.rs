//! The kernels: compiled for NVIDIA GPUs by `build.rs`, and for the CPU as a dependency of the Python module.
#![no_std]
#![forbid(unsafe_code)]

use core::ops::{Add, AddAssign};

use gpu_std::{
    math::special::{SpecialFloat, normcdf},
    pipeline::*,
    prelude::*,
};

/// The price of a European call option by the formula of Black and Scholes. The rate of interest and the volatility are those of a year.
#[vectorize(f32, f64)]
pub fn call_price<T: Float + SpecialFloat>(
    stock: T,
    strike: T,
    years: T,
    #[scalar] rate: T,
    #[scalar] volatility: T,
) -> T {
    let deviation = volatility * years.sqrt();
    let drift = (rate + T::from_f64(0.5) * volatility * volatility) * years;
    let d1 = ((stock / strike).ln() + drift) / deviation;
    stock * normcdf(d1) - strike * (-rate * years).exp() * normcdf(d1 - deviation)
}

/// `e^(x - max) / Σ e^(x - max)` of each row, which is read once.
#[pipeline(f32, f64)]
pub fn softmax<T: Float>(x: In2d<T>) -> Out2d<T> {
    x.rows().map(|row| {
        let max = row.max();
        let powers = row.map(move |x| (x - max).exp()).cached();
        let sum = powers.sum();
        powers.map(move |power| power / sum)
    })
}

/// The sum of all elements.
#[reduction(identity = T::default(), f32, f64, i32, i64)]
pub fn sum<T: Add<Output = T> + Default>(a: T, b: T) -> T {
    a + b
}

/// Adds a number to each element of an array, in place.
#[kernel]
pub fn add_to_each<T: DeviceCopy + AddAssign>(x: PerThread<T>, number: T) {
    for (_, x) in x {
        *x += number;
    }
}

gpu_std::instantiate!(add_to_each::<f32>, add_to_each::<f64>, add_to_each::<i32>, add_to_each::<i64>);
