//! What memory limits.

use benchmark_kernels::{draft::streams as draft, saxpy as saxpy_kernel};
use benchmark_tuned::streams as tuned;
use gpukernel::{LaunchConfig, RawArg, for_each};
use gpukernel_bench::{Bench, Result, bench};
use gpukernel_benchmarks::noise;

use super::{Row, needs_gpu, size, zeroed};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-streams.fatbin"));
static CUDA_SAXPY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernels.fatbin"));

/// BabelStream's kernels, which compute an array of one or two others: how many arrays they read, and operations for each element.
macro_rules! babel_stream {
    ($($name:ident: $read:literal, [$($flops:literal)?], $tolerance:literal, |$to:ident, $a:ident, $b:ident| ($($arg:expr),*), [$($raw:expr),*];)*) => {$(
        #[bench(elements = |device| [size(device, 1 << 26, 1 << 14)])]
        fn $name(bench: &mut Bench<'_>, elements: usize) -> Result {
            let device = bench.device();
            let (a, b) = (device.filled(elements, 0.1_f64)?, device.filled(elements, 0.2_f64)?);
            let ($a, $b) = (&a, &b);
            let mut outputs = zeroed::<f64>(bench, elements)?;
            let measurement = bench
                .measure()
                .elements(elements)
                .bytes(($read + 1) * elements * size_of::<f64>())
                .tolerance($tolerance)
                $(.f64_flops($flops * elements))?;
            Row::new(measurement, &mut outputs)
                .nvcc(CUDA, |cuda, $to| {
                    let args = [$($raw),*, RawArg::value(elements)];
                    // SAFETY: the parameters of the kernel in cuda/draft, which stays below the length.
                    unsafe { cuda.launch(stringify!($name), LaunchConfig::new(elements.div_ceil(256), 256), 0, &args) }
                })?
                .draft(|module, $to| module.launch(draft::$name, for_each(elements), ($($arg),*)))?
                .tuned(|module, $to| module.launch(tuned::$name, for_each(elements), ($($arg),*)))?
                .run()
        }
    )*};
}

babel_stream! {
    copy: 1, [], 0.0, |to, a, _b| (a, to), [RawArg::slice(a), RawArg::slice_mut(to)];
    multiply: 1, [1], 0.0, |to, a, _b| (to, a), [RawArg::slice_mut(to), RawArg::slice(a)];
    add: 2, [1], 0.0, |to, a, b| (a, b, to), [RawArg::slice(a), RawArg::slice(b), RawArg::slice_mut(to)];
    triad: 2, [2], 1e-15, |to, a, b| (to, a, b), [RawArg::slice_mut(to), RawArg::slice(a), RawArg::slice(b)];
}

/// BabelStream's: a sum for each block.
#[bench(elements = |device| [size(device, 1 << 26, 1 << 14)])]
fn dot(bench: &mut Bench<'_>, elements: usize) -> Result {
    let device = bench.device();
    let blocks = few_blocks(elements, 264, 1024);
    let (a, b) = (device.filled(elements, 0.1_f64)?, device.filled(elements, 0.2_f64)?);
    let mut outputs = zeroed::<f64>(bench, blocks)?;
    let grid = LaunchConfig::new(blocks, 1024);
    let measurement = bench
        .measure()
        .elements(elements)
        .bytes((2 * elements + blocks) * size_of::<f64>()) // reads two arrays, writes a sum for each block
        .f64_flops(2 * elements)
        .tolerance(1e-9);
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, sums| {
            let args =
                [RawArg::slice(&a), RawArg::slice(&b), RawArg::value(elements), RawArg::slice_mut(sums)];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays below the length; there is a sum for each block.
            unsafe { cuda.launch("dot", grid, 0, &args) }
        })?
        .draft(|module, sums| module.launch(draft::dot, grid, (&a, &b, sums)))?
        .tuned(|module, sums| module.launch(tuned::dot, grid, (&a, &b, sums)))?
        .run()
}

/// How often each byte is there, added to what was counted before.
#[bench(bytes = |device| [size(device, 1 << 26, 1 << 14)])]
fn histogram(bench: &mut Bench<'_>, bytes: usize) -> Result {
    const BINS: usize = 256;
    let numbers: Vec<u8> = noise(bytes).into_iter().map(|x| (x * 256.0) as u8).collect();
    let values = bench.device().upload(&numbers)?;
    let mut outputs = zeroed::<u32>(bench, BINS)?;
    let grid = LaunchConfig::new(few_blocks(bytes, 132 * 8, 256), 256);
    let measurement = bench.measure().elements(bytes).bytes(bytes + 2 * BINS * size_of::<u32>());
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, bins| {
            let args = [RawArg::slice(&values), RawArg::value(bytes), RawArg::slice_mut(bins)];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays below the length; there are 256 bins.
            unsafe { cuda.launch("histogram", grid, 0, &args) }
        })?
        .draft(|module, bins| module.launch(draft::histogram, grid, (&values, bins)))?
        .tuned(|module, bins| module.launch(tuned::histogram, grid, (&values, bins)))?
        .run()
}

/// Adds ones at random places of an array of a sixteenth of the length.
#[bench(elements = |device| [size(device, 1 << 24, 1 << 14)])]
fn scatter_add(bench: &mut Bench<'_>, elements: usize) -> Result {
    let (device, sums) = (bench.device(), (elements / 16).max(1));
    let last = u32::try_from(sums - 1)?;
    let numbers: Vec<u32> =
        noise(elements).into_iter().map(|x| ((x * sums as f32) as u32).min(last)).collect();
    let (places, added) = (device.upload(&numbers)?, device.filled(elements, 1.0_f32)?);
    let mut outputs = zeroed::<f32>(bench, sums)?;
    let grid = LaunchConfig::new(few_blocks(elements, 132 * 8, 256), 256);
    let measurement = bench
        .measure()
        .elements(elements)
        // Reads places and what is added; reads and writes sums.
        .bytes((2 * elements + 2 * sums) * size_of::<f32>());
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, sums| {
            let args = [
                RawArg::slice(&places),
                RawArg::slice(&added),
                RawArg::value(elements),
                RawArg::slice_mut(sums),
            ];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays below the length; all places are those of sums.
            unsafe { cuda.launch("scatter_add", grid, 0, &args) }
        })?
        .draft(|module, sums| module.launch(draft::scatter_add, grid, (&places, &added, sums)))?
        .tuned(|module, sums| module.launch(tuned::scatter_add, grid, (&places, &added, sums)))?
        .run()
}

#[bench(elements = [1 << 26])]
fn saxpy(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let x = bench.device().filled(elements, 1.5_f32)?;
    let mut outputs = zeroed::<f32>(bench, elements)?;
    let measurement = bench
        .measure()
        .elements(elements)
        .bytes(3 * elements * size_of::<f32>()) // reads x and y, writes y
        .flops(2 * elements);
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA_SAXPY, |cuda, y| {
            let args =
                [RawArg::value(2.0_f32), RawArg::slice(&x), RawArg::value(elements), RawArg::slice_mut(y)];
            // SAFETY: the parameters of `saxpy` in cuda/kernels.cu, which stays below the length.
            unsafe { cuda.launch("saxpy", LaunchConfig::new(elements.div_ceil(256), 256), 0, &args) }
        })?
        .draft(|module, y| module.launch(saxpy_kernel, for_each(elements), (2.0, &x, y)))?
        .run()
}

/// So many blocks, or as many as have something to do.
fn few_blocks(elements: usize, blocks: usize, threads: usize) -> usize {
    blocks.min(elements.div_ceil(threads))
}
