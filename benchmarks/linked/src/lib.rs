//! A kernel whose inner function is in CUDA C, and the same kernel in Rust alone. See `../cuda/iterate.cu`.
#![no_std]

use gpu_std::{device, prelude::*};

/// How often each thread calls the function.
pub const ROUNDS: u32 = 512;

#[device(import)]
unsafe extern "C" {
    /// One round of the logistic map and of its derivative's sum.
    safe fn logistic(rate: f32, x: f32) -> f32;
}

/// The same in Rust.
fn logistic_in_rust(rate: f32, x: f32) -> f32 {
    let next = rate * x * (1.0 - x);
    if next > 0.5 { next } else { next + 0.25 * x }
}

/// Calls the function in CUDA C.
#[kernel]
pub fn iterate(rates: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        let mut x = 0.3;
        for _ in 0..ROUNDS {
            x = logistic(rates[i], x);
        }
        *y = x;
    }
}

/// Calls the function in Rust.
#[kernel]
pub fn iterate_in_rust(rates: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        let mut x = 0.3;
        for _ in 0..ROUNDS {
            x = logistic_in_rust(rates[i], x);
        }
        *y = x;
    }
}
