//! Reductions over the rows of matrices.

use gpu_std::{
    collective::{Max, Sum},
    prelude::{collective::*, warp::*, *},
};

/// Threads of a block, which has a row.
pub const THREADS: usize = 256;

/// `e^(x - max) / Σ e^(x - max)` of each row.
#[kernel(block = THREADS as u32, no_panics)]
pub fn softmax(x: View2d<f32>, y: BlockTiles2d<f32, 1, 1024>, mut scratch: BlockScratch<f32>) {
    let columns = y.columns();
    for mut tile in y {
        let (row, first) = tile.first();
        let Some(row) = x.row(row).and_then(|row| row.get(..columns)) else { return };
        let thread = thread_rank() as usize;
        let mut largest = f32::NEG_INFINITY;
        for i in (thread..row.len()).step_by(THREADS) {
            largest = largest.max(row[i]);
        }
        let largest = scratch.reduce(largest, Max);
        let mut sum = 0.0;
        for i in (thread..row.len()).step_by(THREADS) {
            sum += (row[i] - largest).exp();
        }
        let sum = scratch.reduce(sum, Sum);
        for ((_, column), y) in &mut tile {
            *y = (row[first + column] - largest).exp() / sum;
        }
    }
}

/// Each row, less its mean and divided by its standard deviation, scaled and moved.
#[kernel(block = THREADS as u32, no_panics)]
pub fn layer_norm(
    x: View2d<f32>,
    scale: &[f32],
    offset: &[f32],
    y: BlockTiles2d<f32, 1, 1024>,
    mut scratch: BlockScratch<f32>,
) {
    let columns = y.columns();
    let (Some(scale), Some(offset)) = (scale.get(..columns), offset.get(..columns)) else { return };
    for mut tile in y {
        let (row, first) = tile.first();
        let Some(row) = x.row(row).and_then(|row| row.get(..columns)) else { return };
        let thread = thread_rank() as usize;
        let mut sum = 0.0;
        for i in (thread..row.len()).step_by(THREADS) {
            sum += row[i];
        }
        let mean = scratch.reduce(sum, Sum) / columns as f32;
        let mut squares = 0.0;
        for i in (thread..row.len()).step_by(THREADS) {
            squares += (row[i] - mean) * (row[i] - mean);
        }
        let variance = scratch.reduce(squares, Sum) / columns as f32;
        let factor = (variance + 1e-5).rsqrt();
        for ((_, column), y) in &mut tile {
            let column = first + column;
            *y = (row[column] - mean) * factor * scale[column] + offset[column];
        }
    }
}

/// `y = A x` for a sparse matrix in CSR form, a warp for each row.
#[kernel(block = THREADS as u32, no_panics, requires = values.len() == columns.len())]
pub fn sparse_product(starts: &[u32], columns: &[u32], values: &[f32], x: &[f32], mut y: PerWarp<f32>) {
    let row = global_rank() / WARP_SIZE as usize;
    let (Some(start), Some(end)) = (starts.get(row), starts.get(row + 1)) else { return };
    let mut sum = 0.0;
    for i in ((start + lane_index()) as usize..(*end as usize).min(values.len())).step_by(WARP_SIZE as usize)
    {
        sum += values[i] * x.get(columns[i] as usize).copied().unwrap_or_default();
    }
    let sum = warp().reduce_sum(sum);
    if let Some((_, y)) = y.first_mut() {
        *y = sum;
    }
}
