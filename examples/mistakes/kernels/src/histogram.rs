//! How many numbers lie in each of several bins of the same width.

use gpu_std::prelude::*;

/// Counts the numbers of each bin, and takes for granted that all of them are between `low` and `high`.
#[kernel]
pub fn histogram_out_of_bounds(x: &[f32], low: f32, high: f32, bins: &[Atomic<u32>]) {
    let width = (high - low) / bins.len() as f32;
    for i in grid_stride(x.len()) {
        let bin = ((x[i] - low) / width) as usize;
        bins[bin].fetch_add(1);
    }
}

/// Counts the numbers of each bin, and leaves out those that are in none.
#[kernel]
pub fn histogram(x: &[f32], low: f32, high: f32, bins: &[Atomic<u32>]) {
    let width = (high - low) / bins.len() as f32;
    for i in grid_stride(x.len()) {
        let bin = (x[i] - low) / width;
        // What is below 0, or not a number, would become 0 as an index.
        if bin >= 0.0
            && let Some(bin) = bins.get(bin as usize)
        {
            bin.fetch_add(1);
        }
    }
}
