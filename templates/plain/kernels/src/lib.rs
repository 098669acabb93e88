//! The kernels: compiled for NVIDIA GPUs by `build.rs`, and for the CPU as a dependency of the program.
#![no_std]

use gpu_std::prelude::*;

/// Computes `y = a * x + y`. Each thread visits the elements of `y` that it owns, in grids of any size.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y += a * x[i];
    }
}
