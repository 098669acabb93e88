//! A reduction, and a pipeline for each way of launching one, for calls with arrays of other devices. `tests/pipelines` tests what pipelines compute.

use gpu_std::{pipeline::*, prelude::*};

/// The sum of two numbers.
#[reduction(identity = 0)]
pub fn sum(a: i32, b: i32) -> i32 {
    a + b
}

/// The difference of each two elements.
#[pipeline]
pub fn differences(x: In<i32>, y: In<i32>) -> Out<i32> {
    x.zip(y).map(|(a, b)| a - b)
}

/// The elements that are positive.
#[pipeline]
pub fn positives(x: In<i32>) -> Compact<i32> {
    x.filter(|v| *v > 0)
}

/// Sums up to each element.
#[pipeline]
pub fn running_sum(x: In<i32>) -> Scan<i32> {
    x.inclusive_scan(0, |a, b| a + b)
}

/// The sum of the squares of each row.
#[pipeline]
pub fn squared_norms(x: In2d<i32>) -> PerRow<i32> {
    x.rows().map(|row| row.map(|v| v * v).sum())
}
