//! Scalar functions, most of them as functions of arrays by `#[vectorize]`.
#![no_std]
#![forbid(unsafe_code)]

use gpu_std::{math::special::normcdf, prelude::*};

/// The sum of two integers.
#[vectorize]
pub fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// (a + b)².
#[vectorize]
pub fn squared_sum(a: f32, b: f32) -> f32 {
    (a + b) * (a + b)
}

/// The difference of two numbers relative to their mean.
#[vectorize(f32, f64)]
pub fn rel_diff<T: Float>(x: T, y: T) -> T {
    T::from_f64(2.0) * (x - y) / (x + y)
}

/// The density of the normal distribution.
#[vectorize]
pub fn gaussian_pdf(x: f32, mean: f32, sigma: f32) -> f32 {
    /// √(2π)
    const SCALE: f32 = 2.506_628_3;
    let z = (x - mean) / sigma;
    (-0.5 * z * z).exp() / (sigma * SCALE)
}

/// A point in Cartesian coordinates. Functions that kernels call are ordinary functions, and return what they like.
pub fn polar_to_cartesian(rho: f32, theta: f32) -> (f32, f32) {
    let (sin, cos) = theta.sin_cos();
    (rho * cos, rho * sin)
}

/// The distance of two points in polar coordinates.
#[vectorize]
pub fn polar_distance(rho1: f32, theta1: f32, rho2: f32, theta2: f32) -> f32 {
    let ((x1, y1), (x2, y2)) = (polar_to_cartesian(rho1, theta1), polar_to_cartesian(rho2, theta2));
    ((x1 - x2) * (x1 - x2) + (y1 - y2) * (y1 - y2)).sqrt()
}

/// Rounds to so many decimals; what is half-way between two is rounded to the even one.
pub fn rounded(x: f64, decimals: i32) -> f64 {
    let factor = 10.0_f64.powi(decimals);
    (x * factor).round_ties_even() / factor
}

/// [`rounded`] for each element, as a kernel.
#[kernel]
pub fn round(x: &[f64], decimals: i32, out: PerThread<f64>) {
    for (i, out) in out {
        *out = rounded(x[i], decimals);
    }
}

/// Whether a number is prime, by trial division.
#[vectorize]
pub fn is_prime(number: u32) -> bool {
    if number < 2 {
        return false;
    }
    let mut divisor = 2;
    // A number is prime if nothing up to its square root divides it.
    while divisor <= number / divisor {
        if number.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    true
}

/// [`is_prime`] for one number.
#[kernel]
pub fn check_prime(number: u32, out: PerThread<bool>) {
    for (_, out) in out {
        *out = is_prime(number);
    }
}

/// What the right to buy and the right to sell at a price are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy, bytemuck::Zeroable)]
#[repr(C)]
pub struct Prices {
    /// Of the right to buy.
    pub call: f64,
    /// Of the right to sell.
    pub put: f64,
}

/// The prices of European options by the formula of Black and Scholes. The rate of interest and the volatility are those of a year.
#[vectorize]
pub fn black_scholes(price: f64, strike: f64, years: f64, rate: f64, volatility: f64) -> Prices {
    let deviation = volatility * years.sqrt();
    let d1 = ((price / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / deviation;
    let d2 = d1 - deviation;
    let discounted = strike * (-rate * years).exp();
    Prices {
        call: price * normcdf(d1) - discounted * normcdf(d2),
        put: discounted * normcdf(-d2) - price * normcdf(-d1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_arrays_are_functions_of_numbers() {
        assert_eq!((add(2, 3), squared_sum(1.0, 2.0), rel_diff(1.0, 3.0)), (5, 9.0, -1.0));
        assert!((gaussian_pdf(0.0, 0.0, 1.0) - 0.398_942_3).abs() < 1e-7);
        assert!((polar_distance(3.0, 0.0, 4.0, core::f32::consts::FRAC_PI_2) - 5.0).abs() < 1e-6);
    }

    #[test]
    fn the_largest_numbers_are_checked_without_overflow() {
        // 2³² − 5 is the largest prime below 2³².
        assert!(is_prime(u32::MAX - 4));
        assert_eq!([u32::MAX, u32::MAX - 1, 65_521 * 65_521].map(is_prime), [false; 3]);
    }
}
