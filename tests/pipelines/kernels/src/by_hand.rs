//! Kernels that do the same as pipelines, as one writes them by hand.

use core::array;

use gpu_std::{
    prelude::{collective::*, memory::*, warp::*, *},
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

/// The same of rows of so many chunks of four elements, of which each thread of a block has up to `CHUNKS`.
///
/// # Safety
/// `y` has as many elements as `x`, which are whole rows; there is a block for each row.
#[kernel(max_threads = 512)]
pub unsafe fn softmax_in_chunks<const CHUNKS: usize>(
    x: &[f32x4],
    chunks: u32,
    y: UnsafeSlice<f32x4>,
    mut scratch: BlockScratch<f32>,
) {
    let (rank, threads) = (thread_rank(), threads_per_block());
    let first = block_rank() * chunks as usize;
    let at =
        |i: usize| Some(rank + i as u32 * threads).filter(|at| *at < chunks).map(|at| first + at as usize);
    let own: [[f32; 4]; CHUNKS] = array::from_fn(|i| {
        at(i).and_then(|at| x.get(at)).map_or([f32::NEG_INFINITY; 4], |own| own.to_array())
    });
    let max = scratch.reduce_items(own.map(|own| own.into_iter().fold(f32::NEG_INFINITY, f32::max)), Max);
    let powers = own.map(|own| own.map(|v| (v - max).exp()));
    let sum = scratch.reduce_items(powers.map(|powers| powers.into_iter().sum()), Sum);
    for (i, powers) in powers.into_iter().enumerate() {
        if let Some(at) = at(i).filter(|at| *at < y.len()) {
            // SAFETY: each thread has its own elements.
            unsafe { y.set(at, f32x4::from(powers.map(|power| power / sum))) };
        }
    }
}

gpu_std::instantiate!(softmax_in_chunks::<1>, softmax_in_chunks::<2>, softmax_in_chunks::<8>);

/// The same of rows of so many chunks, which are read three times.
///
/// # Safety
/// `y` has as many elements as `x`, which are whole rows; there is a block for each row.
#[kernel(block = 1024)]
pub unsafe fn softmax_in_rounds(
    x: &[f32x4],
    chunks: u32,
    y: UnsafeSlice<f32x4>,
    mut scratch: BlockScratch<f32>,
) {
    let first = block_rank() * chunks as usize;
    let Some(own) = x.get(first..).and_then(|x| x.get(..chunks as usize)) else { return };
    let (mut max, mut sum) = (f32::NEG_INFINITY, 0.0);
    for i in block_stride(own.len()) {
        max = own[i].to_array().into_iter().fold(max, f32::max);
    }
    let max = scratch.reduce(max, Max);
    for i in block_stride(own.len()) {
        sum += own[i].to_array().into_iter().map(|v| (v - max).exp()).sum::<f32>();
    }
    let sum = scratch.reduce(sum, Sum);
    if first + own.len() > y.len() {
        return;
    }
    for i in block_stride(own.len()) {
        let powers = own[i].to_array().map(|v| (v - max).exp());
        // SAFETY: each thread has its own elements.
        unsafe { y.set(first + i, f32x4::from(powers.map(|power| power / sum))) };
    }
}

/// The same of rows of so many chunks, up to `LANES`: so many lanes for each.
///
/// # Safety
/// `y` has as many elements as `x`, which are whole rows; there are so many threads for each row.
#[kernel(block = 256)]
pub unsafe fn softmax_in_lanes<const LANES: u32>(x: &[f32x4], chunks: u32, y: UnsafeSlice<f32x4>) {
    let tile = tiled_partition::<LANES>();
    let (row, lane) = (global_rank() / LANES as usize, tile.rank());
    let i = row * chunks as usize + lane as usize;
    let is_inside = lane < chunks && i < x.len().min(y.len());
    let own = if is_inside { x[i].to_array() } else { [f32::NEG_INFINITY; 4] };
    let max = tile.reduce_max(own.into_iter().fold(f32::NEG_INFINITY, f32::max));
    let powers = own.map(|v| (v - max).exp());
    let sum = tile.reduce_sum(powers.into_iter().sum::<f32>());
    if is_inside {
        // SAFETY: each thread has its own elements.
        unsafe { y.set(i, f32x4::from(powers.map(|power| power / sum))) };
    }
}

gpu_std::instantiate!(softmax_in_lanes::<8>, softmax_in_lanes::<32>);

/// The same of rows of so many numbers, up to `LANES` for each of `ELEMENTS`: so many lanes for each row, one beside the other in memory.
///
/// # Safety
/// `y` has as many elements as `x`, which are whole rows; there are so many threads for each row.
#[kernel(block = 256)]
pub unsafe fn softmax_in_elements<const LANES: u32, const ELEMENTS: usize>(
    x: &[f32],
    columns: u32,
    y: UnsafeSlice<f32>,
) {
    let tile = tiled_partition::<LANES>();
    let (row, lane) = (global_rank() / LANES as usize, tile.rank());
    let first = row * columns as usize;
    let at =
        |i: usize| Some(lane + i as u32 * LANES).filter(|at| *at < columns).map(|at| first + at as usize);
    let own: [f32; ELEMENTS] =
        array::from_fn(|i| at(i).and_then(|at| x.get(at)).copied().unwrap_or(f32::NEG_INFINITY));
    let max = tile.reduce_max(own.into_iter().fold(f32::NEG_INFINITY, f32::max));
    let powers = own.map(|v| (v - max).exp());
    let sum = tile.reduce_sum(powers.into_iter().sum::<f32>());
    for (i, power) in powers.into_iter().enumerate() {
        if let Some(at) = at(i).filter(|at| *at < y.len()) {
            // SAFETY: each thread has its own elements.
            unsafe { y.set(at, power / sum) };
        }
    }
}

gpu_std::instantiate!(
    softmax_in_elements::<16, 1>,
    softmax_in_elements::<32, 3>,
    softmax_in_elements::<32, 5>,
    softmax_in_elements::<32, 8>,
    softmax_in_elements::<32, 32>
);

/// The same of rows of so many numbers, which are read three times, one by one.
///
/// # Safety
/// `y` has as many elements as `x`, which are whole rows; there is a block for each row.
#[kernel(block = 1024)]
pub unsafe fn softmax_in_rounds_of_elements(
    x: &[f32],
    columns: u32,
    y: UnsafeSlice<f32>,
    mut scratch: BlockScratch<f32>,
) {
    let first = block_rank() * columns as usize;
    let Some(own) = x.get(first..).and_then(|x| x.get(..columns as usize)) else { return };
    let (mut max, mut sum) = (f32::NEG_INFINITY, 0.0);
    for i in block_stride(own.len()) {
        max = max.max(own[i]);
    }
    let max = scratch.reduce(max, Max);
    for i in block_stride(own.len()) {
        sum += (own[i] - max).exp();
    }
    let sum = scratch.reduce(sum, Sum);
    if first + own.len() > y.len() {
        return;
    }
    for i in block_stride(own.len()) {
        // SAFETY: each thread has its own elements.
        unsafe { y.set(first + i, (own[i] - max).exp() / sum) };
    }
}
