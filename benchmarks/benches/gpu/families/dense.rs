//! Products of matrices, and a transpose.

use benchmark_kernels::draft::dense::{self as draft, BLOCK, SIDE, STEP, TILE};
use gpukernel::{Buffer, DeviceSlice, LaunchConfig, Module, RawArg};
use gpukernel_bench::{Bench, Result, bench};
use gpukernel_benchmarks::noise;

use super::{Row, needs_gpu, zeroed};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-dense.fatbin"));

/// Measures a kernel that makes a square matrix of two.
fn of_two(
    bench: &mut Bench<'_>,
    kernel: &str,
    size: usize,
    grid: LaunchConfig,
    tolerance: f64,
    mut draft: impl FnMut(&Module, [&DeviceSlice<f32>; 2], &mut Buffer<f32>) -> gpukernel::Result<()>,
) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let (device, count, extent) = (bench.device(), size * size, RawArg::value(u32::try_from(size)?));
    let (a, b) = (device.upload(&noise(count))?, device.upload(&noise(count))?);
    let mut outputs = zeroed::<f32>(bench, count)?;
    let measurement = bench
        .measure()
        .elements(count)
        .bytes(3 * count * size_of::<f32>()) // each read once and written: the caches have the rest
        .flops(2 * size * count) // a product or a sum, and a sum or the lower of two
        .tolerance(tolerance);
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, c| {
            let args = [
                RawArg::slice(&a),
                RawArg::slice(&b),
                RawArg::slice_mut(c),
                extent.clone(),
                extent.clone(),
                extent.clone(),
            ];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays within the extents.
            unsafe { cuda.launch(kernel, grid, 0, &args) }
        })?
        .draft(|module, c| draft(module, [&a, &b], c))?
        .run()
}

/// Blocks of so many threads for tiles of so many rows and columns.
fn tiles(size: usize, tile: usize, threads: (usize, usize)) -> LaunchConfig {
    LaunchConfig::new((size.div_ceil(tile), size.div_ceil(tile)), threads)
}

/// In tiles of 32 × 32.
#[bench(size = [2048])]
fn product(bench: &mut Bench<'_>, size: usize) -> Result {
    let grid = tiles(size, TILE, (TILE, TILE));
    of_two(bench, "product", size, grid, 1e-4, |module, [a, b], c| {
        module.launch(draft::product, grid, (a.view_2d(size)?, b.view_2d(size)?, c.view_2d_mut(size)?))
    })
}

/// In tiles of 32 × 32.
#[bench(size = [2048])]
fn min_plus(bench: &mut Bench<'_>, size: usize) -> Result {
    let grid = tiles(size, TILE, (TILE, TILE));
    of_two(bench, "min_plus", size, grid, 1e-5, |module, [a, b], c| {
        module.launch(draft::min_plus, grid, (a.view_2d(size)?, b.view_2d(size)?, c.view_2d_mut(size)?))
    })
}

/// In tiles of 128 × 8.
#[bench(size = [2048])]
fn sgemm(bench: &mut Bench<'_>, size: usize) -> Result {
    let grid = tiles(size, BLOCK, (SIDE, SIDE));
    of_two(bench, "sgemm", size, grid, 1e-4, |module, [a, b], c| {
        module.launch(draft::sgemm, grid, (a.view_2d(size)?, b.view_2d(size)?, c.view_2d_mut(size)?))
    })
}

#[bench(width = [8192])]
fn transpose(bench: &mut Bench<'_>, width: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let (count, extent) = (width * width, RawArg::value(u32::try_from(width)?));
    let from = bench.device().upload(&noise(count))?;
    let mut outputs = zeroed::<f32>(bench, count)?;
    let grid = tiles(width, TILE, (TILE, STEP));
    // Reads and writes.
    let measurement = bench.measure().elements(count).bytes(2 * count * size_of::<f32>());
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, to| {
            let args = [RawArg::slice(&from), RawArg::slice_mut(to), extent.clone(), extent.clone()];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays within the extents.
            unsafe { cuda.launch("transpose", grid, 0, &args) }
        })?
        .draft(|module, to| {
            module.launch(draft::transpose, grid, (from.view_2d(width)?, to.view_2d_mut(width)?))
        })?
        .run()
}
