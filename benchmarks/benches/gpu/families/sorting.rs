//! Sorting and a transform in shared memory.

use benchmark_kernels::draft::sorting::{self as draft, FFT_THREADS, ITEMS, POINTS};
use benchmark_tuned::sorting as tuned;
use gpukernel::{LaunchConfig, RawArg, for_each};
use gpukernel_bench::{Bench, Result, bench};
use gpukernel_benchmarks::noise;

use super::{Row, needs_gpu, size, zeroed};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-sorting.fatbin"));

/// Sorts each 512.
#[bench(elements = [1 << 25])]
fn bitonic_sort(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let numbers: Vec<u32> = noise(elements).into_iter().map(f32::to_bits).collect();
    let x = bench.device().upload(&numbers)?;
    let mut outputs = zeroed::<u32>(bench, elements)?;
    // Reads and writes.
    let measurement = bench.measure().elements(elements).bytes(2 * elements * size_of::<u32>());
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, y| {
            let args = [RawArg::slice(&x), RawArg::value(elements), RawArg::slice_mut(y)];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays below the length.
            unsafe {
                cuda.launch("bitonic_sort", LaunchConfig::new(elements.div_ceil(ITEMS), ITEMS), 0, &args)
            }
        })?
        .draft(|module, y| module.launch(draft::bitonic_sort, for_each(elements), (&x, y)))?
        .run()
}

/// Transforms each 1024 complex numbers.
#[bench(points = |device| [size(device, 1 << 25, 1 << 12)])]
fn fft_1024(bench: &mut Bench<'_>, points: usize) -> Result {
    let numbers: Vec<[f32; 2]> = noise(2 * points).chunks(2).map(|point| [point[0], point[1]]).collect();
    let x = bench.device().upload(&numbers)?;
    let mut outputs = zeroed::<[f32; 2]>(bench, points)?;
    let grid = LaunchConfig::new(points.div_ceil(POINTS), FFT_THREADS);
    let measurement = bench
        .measure()
        .elements(points)
        .bytes(2 * points * size_of::<[f32; 2]>()) // reads and writes
        .flops(5 * 10 * points) // 5 log₂ 1024 for each point, as FFTW counts
        .tolerance(1e-3);
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, y| {
            let args = [RawArg::slice(&x), RawArg::value(points), RawArg::slice_mut(y)];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays below the length.
            unsafe { cuda.launch("fft_1024", grid, 0, &args) }
        })?
        .draft(|module, y| module.launch(draft::fft_1024, grid, (&x, y)))?
        .tuned(|module, y| module.launch(tuned::fft_1024, grid, (&x, y)))?
        .run()
}
