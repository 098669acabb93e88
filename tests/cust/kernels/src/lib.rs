//! A kernel that cust launches.
#![no_std]
#![forbid(unsafe_code)]

use gpu_std::prelude::*;

/// Adds `a * x` to `y`.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y += a * x[i];
    }
}
