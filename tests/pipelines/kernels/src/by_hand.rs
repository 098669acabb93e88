//! Kernels that do the same as pipelines, as one writes them by hand.

use gpu_std::{
    prelude::{collective::*, memory::*, *},
    vector::f32x4,
};

/// As `five_steps`. `parts` has an element per block, and `arrived` one that is 0.
#[kernel(block = 256)]
#[allow(clippy::too_many_arguments)]
pub fn five_steps(
    x: &[f32x4],
    y: &[f32x4],
    limit: f32,
    parts: &[Atomic<f32>],
    arrived: &[Atomic<u32>],
    mut scratch: BlockScratch<f32>,
    result: &[Atomic<f32>],
) {
    let len = x.len().min(y.len());
    let (x, y) = (&x[..len], &y[..len]);
    let mut sum = 0.0;
    for i in grid_stride(len) {
        let d = x[i] - y[i];
        for square in (d * d).to_array() {
            if square > limit {
                sum += square;
            }
        }
    }
    if let Some(sum) = scratch.reduce_grid(sum, 0.0, Sum, parts, &arrived[0]) {
        result[0].store(sum.sqrt());
    }
}

/// As `softmax` of rows of 1024: a block for each, of which each thread has four elements.
///
/// # Safety
/// `y` has as many elements as `x`, which are whole rows; there is a block for each row.
#[kernel(block = 256)]
pub unsafe fn softmax(x: &[f32x4], y: UnsafeSlice<f32x4>, mut scratch: BlockScratch<f32>) {
    let i = global_rank();
    let Some(own) = x.get(i) else { return };
    let own = own.to_array();
    let max = scratch.reduce_items(own, Max);
    let powers = own.map(|v| (v - max).exp());
    let sum = scratch.reduce_items(powers, Sum);
    if i < y.len() {
        // SAFETY: each thread has its own element.
        unsafe { y.set(i, f32x4::from(powers.map(|power| power / sum))) };
    }
}
