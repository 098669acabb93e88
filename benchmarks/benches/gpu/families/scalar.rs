//! Much arithmetic for each element.

use benchmark_kernels::{View, draft::scalar as draft, mandelbrot as mandelbrot_kernel};
use benchmark_tuned::scalar as tuned;
use gpukernel::{LaunchConfig, RawArg, for_each, for_each_2d};
use gpukernel_bench::{Bench, Result, bench};
use gpukernel_benchmarks::noise;

use super::{Row, needs_gpu, size, zeroed};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-scalar.fatbin"));
static CUDA_MANDELBROT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernels.fatbin"));

#[bench(options = |device| [size(device, 1 << 25, 1 << 12)])]
fn black_scholes(bench: &mut Bench<'_>, options: usize) -> Result {
    let device = bench.device();
    let prices = |from: f32, by: f32| {
        let values: Vec<f32> = noise(options).into_iter().map(|x| from + by * x).collect();
        device.upload(&values)
    };
    let (stocks, strikes, years) = (prices(5.0, 25.0)?, prices(1.0, 99.0)?, prices(0.25, 9.75)?);
    let (calls, puts) = (zeroed::<f32>(bench, options)?, zeroed::<f32>(bench, options)?);
    let mut pairs = calls.into_iter().zip(puts);
    let mut pair = || pairs.next().ok_or("there are three of each");
    let mut outputs = [pair()?, pair()?, pair()?];
    let measurement = bench
        .measure()
        .elements(options)
        .bytes(5 * options * size_of::<f32>()) // reads three, writes two
        .tolerance(1e-4);
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, (calls, puts)| {
            let args = [
                RawArg::slice(&stocks),
                RawArg::slice(&strikes),
                RawArg::slice(&years),
                RawArg::value(options),
                RawArg::slice_mut(calls),
                RawArg::slice_mut(puts),
            ];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays below the length.
            unsafe { cuda.launch("black_scholes", LaunchConfig::new(options.div_ceil(256), 256), 0, &args) }
        })?
        .draft(|module, (calls, puts)| {
            module.launch(draft::black_scholes, for_each(options), (&stocks, &strikes, &years, calls, puts))
        })?
        .tuned(|module, (calls, puts)| {
            module.launch(tuned::black_scholes, for_each(options), (&stocks, &strikes, &years, calls, puts))
        })?
        .run()
}

#[bench(nonces = [1 << 24])]
fn sha_256_twice(bench: &mut Bench<'_>, nonces: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let len = u32::try_from(nonces)?;
    let header: [u32; 19] = std::array::from_fn(|i| (i as u32 + 1).wrapping_mul(0x9e37_79b9));
    let mut outputs = zeroed::<u32>(bench, nonces)?;
    // Only words are written: integer operations limit it, of which no peak is measured.
    Row::new(bench.measure().elements(nonces), &mut outputs)
        .nvcc(CUDA, |cuda, words| {
            let args = [RawArg::value(header), RawArg::slice_mut(words), RawArg::value(len)];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays below the length.
            unsafe { cuda.launch("sha_256_twice", LaunchConfig::new(nonces.div_ceil(256), 256), 0, &args) }
        })?
        .draft(|module, words| module.launch(draft::sha_256_twice, for_each(nonces), (header, words)))?
        .run()
}

/// 256 iterations at most, whose number depends on the pixel.
#[bench(width = [4096])]
fn mandelbrot(bench: &mut Bench<'_>, width: usize) -> Result {
    const ITERATIONS: u32 = 256;
    if needs_gpu(bench) {
        return Ok(());
    }
    let (count, extent) = (width * width, RawArg::value(u32::try_from(width)?));
    let view = View { left: -2.0, top: -1.5, step: 3.0 / width as f32 };
    let mut outputs = zeroed::<u32>(bench, count)?;
    let grid = LaunchConfig::new((width.div_ceil(32), width.div_ceil(8)), (32, 8));
    Row::new(bench.measure().elements(count), &mut outputs)
        .nvcc(CUDA_MANDELBROT, |cuda, pixels| {
            let args = [
                RawArg::value(view),
                RawArg::value(ITERATIONS),
                RawArg::slice_mut(pixels),
                extent.clone(),
                extent.clone(),
            ];
            // SAFETY: the parameters of `mandelbrot` in cuda/kernels.cu, which stays within the extents.
            unsafe { cuda.launch("mandelbrot", grid, 0, &args) }
        })?
        .draft(|module, pixels| {
            let args = (view, ITERATIONS, pixels.view_2d_mut(width)?);
            module.launch(mandelbrot_kernel, for_each_2d(width, width), args)
        })?
        .run()
}
