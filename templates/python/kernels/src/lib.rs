//! The kernels: compiled for NVIDIA GPUs by `build.rs`, and for the CPU as a dependency of the Python module.
#![no_std]

use core::ops::{Add, AddAssign};

use gpu_std::prelude::*;

/// Adds two numbers: a function of arrays of these types.
#[vectorize(f32, f64, i32, i64)]
#[inline]
pub fn add<T: Add<Output = T>>(x: T, y: T) -> T {
    x + y
}

/// Adds a number to each element of an array, in place. Each thread visits the elements that it owns, in grids of any size.
#[kernel]
pub fn add_to_each<T: DeviceCopy + AddAssign>(x: PerThread<T>, number: T) {
    for (_, x) in x {
        *x += number;
    }
}

gpu_std::instantiate!(
    add_to_each::<f32>,
    add_to_each::<f64>,
    add_to_each::<i32>,
    add_to_each::<i64>
);
