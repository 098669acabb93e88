//! Random inputs, the same at every start.

use std::ops::Range;

use gpu_std::rng::{Generator, Xoroshiro128Plus};

/// Uniformly distributed numbers.
pub(crate) fn uniform(rng: &mut Xoroshiro128Plus, range: Range<f32>, count: usize) -> Vec<f32> {
    (0..count).map(|_| range.start + (range.end - range.start) * rng.uniform::<f32>()).collect()
}
