//! Adds to numbers.
#![no_std]
#![forbid(unsafe_code)]

use gpu_std::prelude::*;

/// Adds `by` to each number.
#[kernel]
pub fn increment(by: i32, numbers: PerThread<i32>) {
    for (_, number) in numbers {
        *number = number.wrapping_add(by);
    }
}
