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

/// Adds one, and counts the rounds that are left.
#[kernel]
pub fn round(x: PerThread<f32>, left: PerThread<u32>) {
    for ((_, x), (_, left)) in x.into_iter().zip(left) {
        *x += 1.0;
        *left -= 1;
    }
}

/// Each element becomes its neighbour's, and one more: what the launch before wrote elsewhere.
#[kernel(requires = x.len() == y.len())]
pub fn advance(x: &[f32], y: PerThread<f32>) {
    let len = x.len();
    for (i, y) in y {
        *y = x[if i + 1 < len { i + 1 } else { 0 }] + 1.0;
    }
}

/// The same, started while the launch before it ends.
#[kernel(programmatic_launch, requires = x.len() == y.len())]
pub fn advance_early(x: &[f32], y: PerThread<f32>) {
    let len = x.len();
    for (i, y) in y {
        *y = x[if i + 1 < len { i + 1 } else { 0 }] + 1.0;
    }
}
