//! The CPU device beside plain rayon loops over the same functions, and what a small launch takes.

use benchmark_kernels::{
    View,
    draft::{grids, scalar, streams},
    escape, mandelbrot as mandelbrot_kernel, saxpy as saxpy_kernel,
};
use gpukernel::{Device, Image, LaunchConfig, Module, for_each, for_each_2d};
use gpukernel_bench::{Bench, Result, bench};
use gpukernel_benchmarks::noise;
use rayon::prelude::*;

static KERNELS: Image = gpukernel::image!("kernels");

/// Elements of a task of rayon's where each is little work.
const CHUNK: usize = 1 << 14;

fn main() -> std::process::ExitCode {
    gpukernel_bench::main_on("cpu")
}

/// The CPU device with the kernels, unless something else is to be measured.
fn load(bench: &mut Bench<'_>) -> Result<Option<(Device, Module)>> {
    let device = bench.device();
    if device.is_gpu() {
        bench.skip("it compares with loops on the host");
        return Ok(None);
    }
    let module = device.load(&KERNELS)?;
    Ok(Some((device, module)))
}

/// In `f32`, 256 iterations at most.
#[bench(width = [1024])]
fn mandelbrot(bench: &mut Bench<'_>, width: usize) -> Result {
    const ITERATIONS: u32 = 256;
    let Some((device, module)) = load(bench)? else { return Ok(()) };
    let view = View { left: -2.0, top: -1.5, step: 3.0 / width as f32 };
    let (mut theirs, mut ours) = (vec![0_u32; width * width], device.zeroed::<u32>(width * width)?);
    bench
        .measure()
        .elements(width * width)
        .expect_like("rayon")
        .provider("rayon", &mut theirs, |pixels| {
            pixels.par_chunks_mut(width).enumerate().for_each(|(row, pixels)| {
                for (column, pixel) in pixels.iter_mut().enumerate() {
                    *pixel = escape(view, row, column, ITERATIONS);
                }
            });
        })
        .provider("gpukernel", &mut ours, |pixels| {
            let args = (view, ITERATIONS, pixels.view_2d_mut(width)?);
            module.launch(mandelbrot_kernel, for_each_2d(width, width), args)
        })
        .run()
}

#[bench(elements = [1 << 24])]
fn saxpy(bench: &mut Bench<'_>, elements: usize) -> Result {
    let Some((device, module)) = load(bench)? else { return Ok(()) };
    let x = noise(elements);
    let on_x = device.upload(&x)?;
    let (mut theirs, mut ours) = (vec![0.25_f32; elements], device.filled(elements, 0.25_f32)?);
    bench
        .measure()
        .elements(elements)
        .bytes(3 * elements * size_of::<f32>()) // reads x and y, writes y
        .flops(2 * elements)
        .expect_like("rayon")
        .provider("rayon", &mut theirs, |y| {
            y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(|(y, x)| {
                for (y, x) in y.iter_mut().zip(x) {
                    *y += 2.0 * x;
                }
            });
        })
        .provider("gpukernel", &mut ours, |y| {
            module.launch(saxpy_kernel, for_each(elements), (2.0, &on_x, y))
        })
        .run()
}

/// BabelStream's triad.
#[bench(elements = [1 << 24])]
fn triad(bench: &mut Bench<'_>, elements: usize) -> Result {
    let Some((device, module)) = load(bench)? else { return Ok(()) };
    let (b, c) = (vec![0.1_f64; elements], vec![0.2_f64; elements]);
    let (on_b, on_c) = (device.upload(&b)?, device.upload(&c)?);
    let (mut theirs, mut ours) = (vec![0.0_f64; elements], device.zeroed::<f64>(elements)?);
    bench
        .measure()
        .elements(elements)
        .bytes(3 * elements * size_of::<f64>()) // reads b and c, writes a
        .f64_flops(2 * elements)
        .expect_like("rayon")
        .provider("rayon", &mut theirs, |a| {
            a.par_chunks_mut(CHUNK).zip(b.par_chunks(CHUNK)).zip(c.par_chunks(CHUNK)).for_each(
                |((a, b), c)| {
                    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                        *a = b + 0.4 * c;
                    }
                },
            );
        })
        .provider("gpukernel", &mut ours, |a| {
            module.launch(streams::triad, for_each(elements), (a, &on_b, &on_c))
        })
        .run()
}

#[bench(options = [1 << 21])]
fn black_scholes(bench: &mut Bench<'_>, options: usize) -> Result {
    let Some((device, module)) = load(bench)? else { return Ok(()) };
    let numbers = |from: f32, by: f32| noise(options).into_iter().map(|x| from + by * x).collect::<Vec<_>>();
    let (stocks, strikes, years) = (numbers(5.0, 25.0), numbers(1.0, 99.0), numbers(0.25, 9.75));
    let (on_stocks, on_strikes, on_years) =
        (device.upload(&stocks)?, device.upload(&strikes)?, device.upload(&years)?);
    let mut theirs = (vec![0.0_f32; options], vec![0.0_f32; options]);
    let mut ours = (device.zeroed::<f32>(options)?, device.zeroed::<f32>(options)?);
    bench
        .measure()
        .elements(options)
        .bytes(5 * options * size_of::<f32>()) // reads three, writes two
        .expect_like("rayon")
        .provider("rayon", &mut theirs, |(calls, puts)| {
            calls.par_iter_mut().zip(puts).enumerate().with_min_len(1024).for_each(|(i, (call, put))| {
                (*call, *put) = scalar::price(stocks[i], strikes[i], years[i]);
            });
        })
        .provider("gpukernel", &mut ours, |(calls, puts)| {
            module.launch(
                scalar::black_scholes,
                for_each(options),
                (&on_stocks, &on_strikes, &on_years, calls, puts),
            )
        })
        .run()
}

/// A step of Jacobi's method.
#[bench(width = [4096])]
fn jacobi(bench: &mut Bench<'_>, width: usize) -> Result {
    let Some((device, module)) = load(bench)? else { return Ok(()) };
    let from = noise(width * width);
    let on_from = device.upload(&from)?;
    let (mut theirs, mut ours) = (vec![0.0_f32; width * width], device.zeroed::<f32>(width * width)?);
    bench
        .measure()
        .elements(width * width)
        .bytes(2 * width * width * size_of::<f32>()) // each read once and written
        .flops(4 * width * width)
        .expect_like("rayon")
        .provider("rayon", &mut theirs, |to| {
            to.par_chunks_mut(width).enumerate().for_each(|(row, to)| {
                if row == 0 || row + 1 == width {
                    return;
                }
                let [above, here, below] = [row - 1, row, row + 1].map(|row| &from[row * width..][..width]);
                for column in 1..width - 1 {
                    to[column] = 0.25 * (above[column] + below[column] + here[column - 1] + here[column + 1]);
                }
            });
        })
        .provider("gpukernel", &mut ours, |to| {
            let args = (on_from.view_2d(width)?, to.view_2d_mut(width)?);
            module.launch(grids::jacobi, for_each_2d(width, width), args)
        })
        .run()
}

/// A block of 32 threads: the time of a launch.
#[bench]
fn small_launch(bench: &mut Bench<'_>) -> Result {
    const THREADS: usize = 32;
    let Some((device, module)) = load(bench)? else { return Ok(()) };
    let a = device.filled(THREADS, 1.0_f64)?;
    let mut c = device.zeroed::<f64>(THREADS)?;
    bench
        .measure()
        .elements(THREADS)
        .expect(vec![1.0; THREADS])
        .provider("gpukernel", &mut c, |c| {
            module.launch(streams::copy, LaunchConfig::new(1, THREADS), (&a, c))
        })
        .run()
}
