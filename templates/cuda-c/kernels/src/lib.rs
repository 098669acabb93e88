//! The kernels: compiled for NVIDIA GPUs by `build.rs`, and for the CPU as a dependency of the program.
#![no_std]

use gpu_std::{device, prelude::*};

#[device(import)]
unsafe extern "C" {
    /// Computes `x / (1 + |x|)`: defined in `cuda/softsign.cu`.
    safe fn softsign(x: f32) -> f32;
}

/// Replaces each value by its softsign. Each thread visits the values that it owns, in grids of any size.
#[kernel]
pub fn activate(values: PerThread<f32>) {
    for (_, value) in values {
        *value = softsign(*value);
    }
}
