//! The kernels of the benchmarks: the same shape as those in `cuda/kernels.cu`, in safe Rust.

#![no_std]

pub mod arrays;
pub mod block;
pub mod cores;
pub mod documents;
pub mod draft;
pub mod launches;
pub mod select;
pub mod tensor;

use gpu_std::{
    prelude::*,
    rng::{Generator, Xoroshiro128Plus},
};

/// `y += a * x`: two reads and a write per element, bound by memory.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<f32>) {
    if let Some((i, y)) = y.first_mut() {
        *y += a * x[i];
    }
}

/// Part of the complex plane: the point of pixel `(row, column)` is `(left + column * step, top + row * step)`.
#[derive(Clone, Copy, Debug, DeviceCopy)]
#[repr(C)]
pub struct View {
    /// Real part of the leftmost column.
    pub left: f32,
    /// Imaginary part of the uppermost row.
    pub top: f32,
    /// Distance of neighbouring pixels.
    pub step: f32,
}

/// How many iterations the point of a pixel stays within distance 2.
#[inline]
pub fn escape(view: View, row: usize, column: usize, iterations: u32) -> u32 {
    let (x, y) = (view.left + column as f32 * view.step, view.top + row as f32 * view.step);
    let (mut re, mut im) = (0.0, 0.0);
    let mut i = 0;
    while i < iterations && re * re + im * im < 4.0 {
        (re, im) = (re * re - im * im + x, 2.0 * re * im + y);
        i += 1;
    }
    i
}

/// Mandelbrot: bound by arithmetic.
#[kernel]
pub fn mandelbrot(view: View, iterations: u32, mut pixels: PerThread2d<u32>) {
    if let Some(((row, column), pixel)) = pixels.first_mut() {
        *pixel = escape(view, row, column, iterations);
    }
}

/// The states of consecutive subsequences of random numbers: up to a jump per hexadecimal digit of the index.
#[kernel]
pub fn random_states(seed: u64, states: PerThread<Xoroshiro128Plus>) {
    for (i, state) in states {
        *state = Xoroshiro128Plus::subsequence(seed, i as u64);
    }
}
