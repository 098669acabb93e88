//! Reductions over rows.

use benchmark_kernels::draft::rows as draft;
use benchmark_tuned::rows as tuned;
use gpukernel::{LaunchConfig, RawArg};
use gpukernel_bench::{Bench, Result, bench};
use gpukernel_benchmarks::noise;

use super::{Row, size, zeroed};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-rows.fatbin"));

/// Numbers of a row.
const COLUMNS: usize = 1024;
const OF_COLUMNS: u32 = COLUMNS as u32;

/// Of rows of 1024.
#[bench(rows = |device| [size(device, 1 << 15, 16)])]
fn softmax(bench: &mut Bench<'_>, rows: usize) -> Result {
    let count = rows * COLUMNS;
    let x = bench.device().upload(&noise(count))?;
    let mut outputs = zeroed::<f32>(bench, count)?;
    let grid = LaunchConfig::new((1, rows), 256);
    let measurement = bench
        .measure()
        .elements(count)
        .bytes(2 * count * size_of::<f32>()) // each read once and written
        .tolerance(1e-5);
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, y| {
            let args = [RawArg::value(OF_COLUMNS), RawArg::slice(&x), RawArg::slice_mut(y)];
            // SAFETY: the parameters of the kernel in cuda/draft; there is a block for each row.
            unsafe { cuda.launch("softmax", LaunchConfig::new(rows, 256), 0, &args) }
        })?
        .draft(|module, y| module.launch(draft::softmax, grid, (OF_COLUMNS, &x, y.view_2d_mut(COLUMNS)?)))?
        .tuned(|module, y| {
            module.launch(tuned::softmax, grid, (x.view_2d(COLUMNS)?, y.view_2d_mut(COLUMNS)?))
        })?
        .run()
}

/// Of rows of 1024.
#[bench(rows = |device| [size(device, 1 << 15, 16)])]
fn layer_norm(bench: &mut Bench<'_>, rows: usize) -> Result {
    let (device, count) = (bench.device(), rows * COLUMNS);
    let x = device.upload(&noise(count))?;
    let (scale, offset) = (device.upload(&noise(COLUMNS))?, device.filled(COLUMNS, 0.5_f32)?);
    let mut outputs = zeroed::<f32>(bench, count)?;
    let grid = LaunchConfig::new((1, rows), 256);
    let measurement = bench
        .measure()
        .elements(count)
        .bytes((2 * count + 2 * COLUMNS) * size_of::<f32>()) // each read once and written, scales and offsets
        .tolerance(1e-3);
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, y| {
            let args = [
                RawArg::value(OF_COLUMNS),
                RawArg::slice(&x),
                RawArg::slice(&scale),
                RawArg::slice(&offset),
                RawArg::slice_mut(y),
            ];
            // SAFETY: the parameters of the kernel in cuda/draft; there is a block for each row.
            unsafe { cuda.launch("layer_norm", LaunchConfig::new(rows, 256), 0, &args) }
        })?
        .draft(|module, y| {
            module.launch(draft::layer_norm, grid, (OF_COLUMNS, &x, &scale, &offset, y.view_2d_mut(COLUMNS)?))
        })?
        .tuned(|module, y| {
            module.launch(
                tuned::layer_norm,
                grid,
                (x.view_2d(COLUMNS)?, &scale, &offset, y.view_2d_mut(COLUMNS)?),
            )
        })?
        .run()
}

/// A sparse matrix, 64 numbers in each row, with a vector.
#[bench(rows = |device| [size(device, 1 << 19, 1 << 10)])]
fn sparse_product(bench: &mut Bench<'_>, rows: usize) -> Result {
    const PER_ROW: usize = 64;
    let (device, count, of_rows) = (bench.device(), rows * PER_ROW, u32::try_from(rows)?);
    u32::try_from(count)?;
    let starts: Vec<u32> = (0..=rows).map(|row| (row * PER_ROW) as u32).collect();
    let places: Vec<u32> = noise(count).into_iter().map(|x| (x * rows as f32) as u32 % of_rows).collect();
    let (starts, places) = (device.upload(&starts)?, device.upload(&places)?);
    let (values, vector) = (device.upload(&noise(count))?, device.upload(&noise(rows))?);
    let mut outputs = zeroed::<f32>(bench, rows)?;
    let grid = LaunchConfig::new(rows.div_ceil(8), 256);
    let measurement = bench
        .measure()
        .elements(count)
        // Reads places and values, starts and vector once, writes a vector.
        .bytes((2 * count + 3 * rows) * size_of::<f32>())
        .flops(2 * count)
        .tolerance(1e-3);
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, y| {
            let args = [
                RawArg::slice(&starts),
                RawArg::value(of_rows),
                RawArg::slice(&places),
                RawArg::slice(&values),
                RawArg::slice(&vector),
                RawArg::slice_mut(y),
            ];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays below the number of rows; all places are below it as well.
            unsafe { cuda.launch("sparse_product", grid, 0, &args) }
        })?
        .draft(|module, y| {
            module.launch(draft::sparse_product, grid, (&starts, &places, &values, &vector, y))
        })?
        .tuned(|module, y| {
            module.launch(tuned::sparse_product, grid, (&starts, &places, &values, &vector, y))
        })?
        .run()
}
