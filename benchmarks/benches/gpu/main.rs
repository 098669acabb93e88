//! Kernels of ours beside the same from nvcc, both launched by the runtime, alternating, timed by events.

mod block;
mod families;
mod linked;
mod tensor;

use std::time::Duration;

use benchmark_kernels::{View, mandelbrot, random_states, saxpy};
use gpu_std::rng::Xoroshiro128Plus;
use gpukernel::{Device, Error, ForeignModule, Image, LaunchConfig, Module, RawArg, for_each, for_each_2d};
use gpukernel_benchmarks::{TimedRun, compare, print_row};

static KERNELS: Image = gpukernel::image!("kernels");
static TUNED: Image = gpukernel::image!("tuned");
static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernels.fatbin"));

fn main() -> Result<(), Error> {
    let device = match Device::gpu(0) {
        Ok(device) => device,
        Err(error) => {
            println!("nothing to measure: {error}");
            return Ok(());
        }
    };
    // SAFETY: the build script made it with nvcc.
    let (ours, theirs) = (device.load(&KERNELS)?, unsafe { device.load_foreign(CUDA) }?);
    println!("device: {}\n", device.name());
    print_row("kernel", "nvcc -O3", None);
    compare_mandelbrot(&device, &ours, &theirs)?;
    compare_saxpy(&device, &ours, &theirs)?;
    tensor::compare_products(&device, &ours)?;
    println!();
    print_row("rounds of a function", "the other", None);
    linked::compare_ways(&device)?;
    println!();
    print_row("algorithm of a block of 256 threads", "CUB", None);
    block::compare_all(&device, &ours)?;
    println!();
    families::compare_all(&device, &ours, &device.load(&TUNED)?)?;
    time_random_states(&device, &ours)
}

fn compare_mandelbrot(device: &Device, ours: &Module, theirs: &ForeignModule) -> Result<(), Error> {
    const SIZE: usize = 4096;
    const ITERATIONS: u32 = 256;
    let view = View { left: -2.0, top: -1.5, step: 3.0 / SIZE as f32 };
    let mut our_pixels = device.zeroed::<u32>(SIZE * SIZE)?;
    let mut their_pixels = device.zeroed::<u32>(SIZE * SIZE)?;
    let our_way: TimedRun<'_> = Box::new(|| {
        time(device, || {
            let pixels = our_pixels.view_2d_mut(SIZE)?;
            ours.launch(mandelbrot, for_each_2d(SIZE, SIZE), (view, ITERATIONS, pixels))
        })
    });
    let grid = LaunchConfig::new((SIZE / 32, SIZE / 8), (32, 8));
    let size = SIZE as u32;
    let their_way: TimedRun<'_> = Box::new(|| {
        time(device, || {
            let args = [
                RawArg::value(view),
                RawArg::value(ITERATIONS),
                RawArg::slice_mut(&mut their_pixels),
                RawArg::value(size),
                RawArg::value(size),
            ];
            // SAFETY: the parameters of `mandelbrot` in cuda/kernels.cu; it writes `size` rows of `size` pixels.
            unsafe { theirs.launch("mandelbrot", grid, 0, &args) }
        })
    });
    let comparison = compare(our_way, their_way)?;
    print_row("Mandelbrot 4096² × 256, f32", "", Some(&comparison));
    let differing =
        our_pixels.to_vec()?.iter().zip(their_pixels.to_vec()?).filter(|(a, b)| **a != *b).count();
    println!("\n{differing} of {} pixels differ\n", SIZE * SIZE);
    Ok(())
}

fn compare_saxpy(device: &Device, ours: &Module, theirs: &ForeignModule) -> Result<(), Error> {
    const LENGTH: usize = 1 << 26;
    let x = device.filled(LENGTH, 1.5_f32)?;
    let mut our_y = device.filled(LENGTH, 0.25_f32)?;
    let mut their_y = device.filled(LENGTH, 0.25_f32)?;
    let our_way: TimedRun<'_> =
        Box::new(|| time(device, || ours.launch(saxpy, for_each(LENGTH), (2.0, &x, &mut our_y))));
    let their_way: TimedRun<'_> = Box::new(|| {
        time(device, || {
            let args = [
                RawArg::value(2.0_f32),
                RawArg::slice(&x),
                RawArg::value(LENGTH),
                RawArg::slice_mut(&mut their_y),
            ];
            // SAFETY: the parameters of `saxpy` in cuda/kernels.cu; both arrays have `LENGTH` elements.
            unsafe { theirs.launch("saxpy", LaunchConfig::new(LENGTH / 256, 256), 0, &args) }
        })
    });
    let comparison = compare(our_way, their_way)?;
    print_row("saxpy 2²⁶", "", Some(&comparison));
    Ok(())
}

/// There is nothing to compare with: Numba makes states one after another on the host, cuRAND has no xoroshiro128+.
fn time_random_states(device: &Device, ours: &Module) -> Result<(), Error> {
    const COUNT: usize = 1_000_000;
    const ROUNDS: usize = 51;
    let mut states = device.filled(COUNT, Xoroshiro128Plus::new(0))?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        times.push(time(device, || ours.launch(random_states, for_each(COUNT), (1, &mut states)))?);
    }
    times.sort();
    println!("\n{COUNT} states of xoroshiro128+: {:.2?}", times[ROUNDS / 2]);
    Ok(())
}

/// How long the device takes for what is launched.
fn time(device: &Device, launch: impl FnOnce() -> Result<(), Error>) -> Result<Duration, Error> {
    let stream = device.default_stream();
    let start = stream.record()?;
    launch()?;
    let end = stream.record()?;
    end.synchronize()?;
    end.elapsed_since(&start)
}
