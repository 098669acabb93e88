//! The CPU device beside plain rayon loops over the same functions, and what a small launch takes.

use std::time::{Duration, Instant};

use benchmark_kernels::{
    View,
    draft::{grids, scalar, streams},
    escape, mandelbrot, saxpy,
};
use gpu_std::prelude::DeviceCopy;
use gpukernel::{Buffer, Device, Error, Image, LaunchConfig, Module, for_each, for_each_2d};
use gpukernel_benchmarks::{compare, noise, print_row};
use rayon::prelude::*;

static KERNELS: Image = gpukernel::image!("kernels");

fn main() -> Result<(), Error> {
    let device = Device::cpu();
    let module = device.load(&KERNELS)?;
    print_row("CPU device", "rayon", None);
    compare_mandelbrot(&device, &module)?;
    compare_streams(&device, &module)?;
    compare_black_scholes(&device, &module)?;
    compare_jacobi(&device, &module)?;
    time_small_launch(&device, &module)
}

fn timed<T>(run: impl FnOnce() -> Result<T, Error>) -> Result<Duration, Error> {
    let start = Instant::now();
    run()?;
    Ok(start.elapsed())
}

/// Prints how both compare, and checks that they compute the same.
fn row<T: DeviceCopy + PartialEq>(
    name: &str,
    output: &mut Buffer<T>,
    expected: &mut [T],
    ours: impl Fn(&mut Buffer<T>) -> Result<(), Error>,
    theirs: impl Fn(&mut [T]),
) -> Result<(), Error> {
    let comparison = compare(
        Box::new(|| timed(|| ours(output))),
        Box::new(|| {
            timed(|| {
                theirs(expected);
                Ok(())
            })
        }),
    )?;
    print_row(name, "", Some(&comparison));
    assert!(output.to_vec()? == expected, "{name}: both must compute the same");
    Ok(())
}

fn compare_mandelbrot(device: &Device, module: &Module) -> Result<(), Error> {
    const SIZE: usize = 1024;
    const ITERATIONS: u32 = 256;
    let view = View { left: -2.0, top: -1.5, step: 3.0 / SIZE as f32 };
    row(
        "Mandelbrot 1024² × 256, f32",
        &mut device.zeroed::<u32>(SIZE * SIZE)?,
        &mut vec![0_u32; SIZE * SIZE],
        |pixels| {
            let pixels = pixels.view_2d_mut(SIZE)?;
            module.launch(mandelbrot, for_each_2d(SIZE, SIZE), (view, ITERATIONS, pixels))
        },
        |pixels| {
            pixels.par_chunks_mut(SIZE).enumerate().for_each(|(row, pixels)| {
                for (column, pixel) in pixels.iter_mut().enumerate() {
                    *pixel = escape(view, row, column, ITERATIONS);
                }
            });
        },
    )
}

/// Elements of a task of rayon's where each is little work.
const CHUNK: usize = 1 << 14;

fn compare_streams(device: &Device, module: &Module) -> Result<(), Error> {
    const LEN: usize = 1 << 24;
    let x = noise(LEN);
    let on_x = device.upload(&x)?;
    row(
        "saxpy 2²⁴",
        &mut device.filled(LEN, 0.25_f32)?,
        &mut vec![0.25_f32; LEN],
        |y| module.launch(saxpy, for_each(LEN), (2.0, &on_x, y)),
        |y| {
            y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(|(y, x)| {
                for (y, x) in y.iter_mut().zip(x) {
                    *y += 2.0 * x;
                }
            });
        },
    )?;
    let (b, c) = (vec![0.1_f64; LEN], vec![0.2_f64; LEN]);
    let (on_b, on_c) = (device.upload(&b)?, device.upload(&c)?);
    row(
        "BabelStream triad, 2²⁴",
        &mut device.zeroed::<f64>(LEN)?,
        &mut vec![0.0_f64; LEN],
        |a| module.launch(streams::triad, for_each(LEN), (a, &on_b, &on_c)),
        |a| {
            a.par_chunks_mut(CHUNK).zip(b.par_chunks(CHUNK)).zip(c.par_chunks(CHUNK)).for_each(
                |((a, b), c)| {
                    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                        *a = b + 0.4 * c;
                    }
                },
            );
        },
    )
}

fn compare_black_scholes(device: &Device, module: &Module) -> Result<(), Error> {
    const LEN: usize = 1 << 21;
    let numbers = |from: f32, by: f32| noise(LEN).into_iter().map(|x| from + by * x).collect::<Vec<_>>();
    let (stocks, strikes, years) = (numbers(5.0, 25.0), numbers(1.0, 99.0), numbers(0.25, 9.75));
    let (on_stocks, on_strikes, on_years) =
        (device.upload(&stocks)?, device.upload(&strikes)?, device.upload(&years)?);
    let (mut puts, mut their_puts) = (device.zeroed::<f32>(LEN)?, vec![0.0_f32; LEN]);
    let (puts, their_puts) = (std::cell::RefCell::new(&mut puts), std::cell::RefCell::new(&mut their_puts));
    row(
        "Black-Scholes, 2²¹",
        &mut device.zeroed::<f32>(LEN)?,
        &mut vec![0.0_f32; LEN],
        |calls| {
            let mut puts = puts.borrow_mut();
            let args = (&*on_stocks, &*on_strikes, &*on_years, &mut **calls, &mut ***puts);
            module.launch(scalar::black_scholes, for_each(LEN), args)
        },
        |calls| {
            let mut puts = their_puts.borrow_mut();
            calls.par_iter_mut().zip(&mut **puts).enumerate().with_min_len(1024).for_each(
                |(i, (call, put))| {
                    (*call, *put) = scalar::price(stocks[i], strikes[i], years[i]);
                },
            );
        },
    )
}

fn compare_jacobi(device: &Device, module: &Module) -> Result<(), Error> {
    const WIDTH: usize = 4096;
    let from = noise(WIDTH * WIDTH);
    let on_from = device.upload(&from)?;
    row(
        "Jacobi 4096²",
        &mut device.zeroed::<f32>(WIDTH * WIDTH)?,
        &mut vec![0.0_f32; WIDTH * WIDTH],
        |to| {
            let args = (on_from.view_2d(WIDTH)?, to.view_2d_mut(WIDTH)?);
            module.launch(grids::jacobi, for_each_2d(WIDTH, WIDTH), args)
        },
        |to| {
            to.par_chunks_mut(WIDTH).enumerate().for_each(|(row, to)| {
                if row == 0 || row + 1 == WIDTH {
                    return;
                }
                let [above, here, below] = [row - 1, row, row + 1].map(|row| &from[row * WIDTH..][..WIDTH]);
                for column in 1..WIDTH - 1 {
                    to[column] = 0.25 * (above[column] + below[column] + here[column - 1] + here[column + 1]);
                }
            });
        },
    )
}

/// A block of 32 threads, many times.
fn time_small_launch(device: &Device, module: &Module) -> Result<(), Error> {
    const LAUNCHES: u32 = 100_000;
    let a = device.filled(32, 1.0_f64)?;
    let mut c = device.zeroed::<f64>(32)?;
    let launch = |c: &mut Buffer<f64>| module.launch(streams::copy, LaunchConfig::new(1, 32), (&a, c));
    launch(&mut c)?;
    let time = timed(|| (0..LAUNCHES).try_for_each(|_| launch(&mut c)))?;
    println!("\na launch of a block of 32 threads: {:.2?}", time / LAUNCHES);
    Ok(())
}
