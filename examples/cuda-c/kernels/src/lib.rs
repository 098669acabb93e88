//! Kernels that call functions in CUDA C and C++.
#![no_std]

mod block_sum;
mod particle;

use gpu_std::{device, prelude::*, vector::f32x3};

pub use crate::particle::Particle;
use crate::{
    block_sum::{BLOCK_SUM_THREADS, block_sum},
    particle::{moved, twice, weight},
};

// By hand; the declarations in the modules were made of headers.
#[device(import)]
unsafe extern "C" {
    /// Writes `2 * a`.
    fn bar(a: i32, out: *mut i32);
}

/// Adds twice each `y` to `x`.
#[kernel(requires = y.len() >= x.len())]
pub fn add_twice(y: &[i32], x: PerThread<i32>) {
    for (i, x) in x {
        let mut twice = 0;
        // SAFETY: it writes one number.
        unsafe { bar(y[i], &mut twice) };
        *x += twice;
    }
}

/// Moves particles and weighs them where they are.
#[kernel]
pub fn weigh(by: f32x3, particles: PerThread<Particle>, weights: PerThread<f64>) {
    for ((_, particle), (_, weight_of)) in particles.into_iter().zip(weights) {
        // SAFETY: these functions only compute.
        unsafe {
            *particle = moved(*particle, by);
            *weight_of = twice(weight(*particle).into());
        }
    }
}

/// The sum of each block's numbers, by CUB.
#[kernel(block = BLOCK_SUM_THREADS)]
pub fn sums(x: &[f32], sums: PerBlock<f32>) {
    let value = x.get(global_rank()).copied().unwrap_or(0.0);
    // SAFETY: all threads of the block come here, as many as it is made for.
    let sum = unsafe { block_sum(value) };
    for (_, of_block) in sums {
        *of_block = sum;
    }
}
