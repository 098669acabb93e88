//! What an FFT convolution needs beside the transforms: noise, a filter in the middle of nothing, and the product of two spectra.
#![no_std]
#![forbid(unsafe_code)]

use gpu_std::{
    complex::Complex,
    prelude::*,
    rng::{Generator, Xoroshiro128Plus},
};

/// Writes normally distributed numbers around 0, a subsequence of the generator per thread. On a GPU, cuRAND does it.
#[kernel]
pub fn noise(seed: u64, deviation: f32, numbers: PerThread<f32>) {
    for (thread, number) in numbers {
        let mut rng = Xoroshiro128Plus::subsequence(seed, thread as u64);
        *number = deviation * rng.normal::<f32>();
    }
}

/// Adds `noise`, which is as long.
#[kernel]
pub fn add(noise: &[f32], picture: PerThread<f32>) {
    for (i, pixel) in picture {
        *pixel += noise[i];
    }
}

/// Writes a filter of `size` by `size` pixels, `size` odd, to a picture that is at least as large: its middle in the upper left corner, what lies left of it and above at
/// the other ends. Convolution with it then moves nothing.
#[kernel]
pub fn centre(size: u32, filter: &[f32], picture: PerThread2d<f32>) {
    let size = size as usize;
    let radius = size / 2;
    let (rows, columns) = (picture.rows(), picture.columns());
    for ((row, column), pixel) in picture {
        let (y, x) = ((row + radius) % rows, (column + radius) % columns);
        *pixel = if y < size && x < size { filter[y * size + x] } else { 0.0 };
    }
}

/// Multiplies a spectrum by that of a filter, and by `scale`.
#[kernel]
pub fn multiply(filter: &[Complex<f32>], scale: f32, spectrum: PerThread<Complex<f32>>) {
    for (i, value) in spectrum {
        *value = *value * filter[i] * scale;
    }
}
