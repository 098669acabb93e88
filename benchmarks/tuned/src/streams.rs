//! What memory limits: the lengths are required, so that nothing is checked.

use gpu_std::{
    collective::Sum,
    prelude::{collective::*, *},
};

const SCALAR: f64 = 0.4;

/// `c = a`.
#[kernel(block = 256, no_panics, requires = a.len() >= c.len())]
pub fn copy(a: &[f64], mut c: PerThread<f64>) {
    if let Some((i, c)) = c.first_mut() {
        *c = a[i];
    }
}

/// `b = s c`.
#[kernel(block = 256, no_panics, requires = c.len() >= b.len())]
pub fn multiply(mut b: PerThread<f64>, c: &[f64]) {
    if let Some((i, b)) = b.first_mut() {
        *b = SCALAR * c[i];
    }
}

/// `c = a + b`.
#[kernel(block = 256, no_panics, requires = a.len() >= c.len() && b.len() >= c.len())]
pub fn add(a: &[f64], b: &[f64], mut c: PerThread<f64>) {
    if let Some((i, c)) = c.first_mut() {
        *c = a[i] + b[i];
    }
}

/// `a = b + s c`.
#[kernel(block = 256, no_panics, requires = b.len() >= a.len() && c.len() >= a.len())]
pub fn triad(mut a: PerThread<f64>, b: &[f64], c: &[f64]) {
    if let Some((i, a)) = a.first_mut() {
        *a = b[i] + SCALAR * c[i];
    }
}

/// Threads of a block of [`dot`].
pub const THREADS: usize = 1024;

/// The sum of `a b`, per block.
#[kernel(block = THREADS as u32, no_panics, requires = b.len() >= a.len())]
pub fn dot(a: &[f64], b: &[f64], mut sums: PerBlock<f64>, mut scratch: BlockScratch<f64>) {
    let mut sum = 0.0;
    for i in grid_stride(a.len()) {
        sum += a[i] * b[i];
    }
    let total = scratch.reduce_to_first(sum, Sum);
    if let (Some(total), Some((_, sum))) = (total, sums.first_mut()) {
        *sum = total;
    }
}

/// How often each value occurs: counted per block first.
#[kernel(block = 256, no_panics, requires = bins.len() >= 256)]
pub fn histogram(values: &[u8], bins: &[Atomic<u32>], counts: SharedAtomics<u32, 256>) {
    counts.fill(0);
    sync(());
    for i in grid_stride(values.len()) {
        counts[usize::from(values[i])].fetch_add(1);
    }
    sync(());
    for (value, count) in counts.owned() {
        bins[value].fetch_add(count.load());
    }
}

/// Adds each value where its place says, if there is one.
#[kernel(block = 256, no_panics, requires = places.len() >= values.len())]
pub fn scatter_add(places: &[u32], values: &[f32], sums: &[Atomic<f32>]) {
    for i in grid_stride(values.len()) {
        if let Some(sum) = sums.get(places[i] as usize) {
            sum.fetch_add(values[i]);
        }
    }
}
