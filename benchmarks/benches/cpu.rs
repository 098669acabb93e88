//! The CPU device beside a plain rayon loop over the same function.

use std::time::Instant;

use benchmark_kernels::{View, escape, mandelbrot};
use gpukernel::{Device, Error, Image, for_each_2d};
use gpukernel_benchmarks::{TimedRun, compare, print_row};
use rayon::prelude::*;

static KERNELS: Image = gpukernel::image!("kernels");

const SIZE: usize = 1024;
const ITERATIONS: u32 = 256;

fn main() -> Result<(), Error> {
    let device = Device::cpu();
    let module = device.load(&KERNELS)?;
    let view = View { left: -2.0, top: -1.5, step: 3.0 / SIZE as f32 };
    let mut our_pixels = device.zeroed::<u32>(SIZE * SIZE)?;
    let mut their_pixels = vec![0_u32; SIZE * SIZE];
    let ours: TimedRun<'_> = Box::new(|| {
        let start = Instant::now();
        let pixels = our_pixels.view_2d_mut(SIZE)?;
        module.launch(mandelbrot, for_each_2d(SIZE, SIZE), (view, ITERATIONS, pixels))?;
        Ok(start.elapsed())
    });
    let theirs: TimedRun<'_> = Box::new(|| {
        let start = Instant::now();
        their_pixels.par_chunks_mut(SIZE).enumerate().for_each(|(row, pixels)| {
            for (column, pixel) in pixels.iter_mut().enumerate() {
                *pixel = escape(view, row, column, ITERATIONS);
            }
        });
        Ok(start.elapsed())
    });
    let comparison = compare(ours, theirs)?;
    print_row("CPU device", "rayon", None);
    print_row("Mandelbrot 1024² × 256, f32", "", Some(&comparison));
    assert!(our_pixels.to_vec()? == their_pixels, "both must compute the same");
    Ok(())
}
