//! What memory limits: BabelStream's five kernels, histograms, sums at given places.

use gpu_std::{
    collective::Sum,
    prelude::{collective::*, *},
};

const SCALAR: f64 = 0.4;

/// `c = a`.
#[kernel]
pub fn copy(a: &[f64], c: PerThread<f64>) {
    for (i, c) in c {
        *c = a[i];
    }
}

/// `b = s c`.
#[kernel]
pub fn multiply(b: PerThread<f64>, c: &[f64]) {
    for (i, b) in b {
        *b = SCALAR * c[i];
    }
}

/// `c = a + b`.
#[kernel]
pub fn add(a: &[f64], b: &[f64], c: PerThread<f64>) {
    for (i, c) in c {
        *c = a[i] + b[i];
    }
}

/// `a = b + s c`.
#[kernel]
pub fn triad(a: PerThread<f64>, b: &[f64], c: &[f64]) {
    for (i, a) in a {
        *a = b[i] + SCALAR * c[i];
    }
}

/// Threads of a block of [`dot`].
pub const THREADS: usize = 1024;

/// The sum of `a b`, per block.
#[kernel(block = THREADS as u32)]
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
#[kernel(block = 256)]
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

/// Adds each value where its place says.
#[kernel(block = 256)]
pub fn scatter_add(places: &[u32], values: &[f32], sums: &[Atomic<f32>]) {
    for i in grid_stride(values.len()) {
        sums[places[i] as usize].fetch_add(values[i]);
    }
}
