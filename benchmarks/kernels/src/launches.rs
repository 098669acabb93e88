//! A kernel that does next to nothing, for what its launch costs.

use gpu_std::prelude::*;

/// `sum = a + b + c`.
#[kernel]
pub fn add_three(a: &[f32], b: &[f32], c: &[f32], mut sum: PerThread<f32>) {
    if let Some((i, sum)) = sum.first_mut() {
        *sum = a[i] + b[i] + c[i];
    }
}

/// Adds one to every element.
#[kernel]
pub fn increment(x: PerThread<f32>) {
    for (_, x) in x {
        *x += 1.0;
    }
}
