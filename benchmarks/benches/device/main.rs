//! Device-wide algorithms of `gpukernel-algorithms` beside those of CUB and Thrust, in one process: see `cuda/device.cu`. For an H100. What these lack is
//! beside cuBLAS and cuRAND, if they are in the path of the loader.
//!
//! Both sides get what they write to. CUB's memory for a while is allocated once; ours is allocated and freed in the order of the stream in each call, as
//! users have it.

mod comparison;
mod cub;
mod cublas;
mod curand;
mod histogram;
mod input;
mod output;
mod reduce;
mod scan;
mod search;
mod select;
mod sort;
mod unary;

use gpukernel_algorithms::Algorithms;
use gpukernel_bench::{Bench, Result};

/// How many elements there are, but of 64-bit keys.
const ELEMENTS: [usize; 3] = [1 << 20, 1 << 24, 1 << 28];

fn main() -> std::process::ExitCode {
    gpukernel_bench::main()
}

/// Measures a row on a GPU, with our algorithms on its default stream. Skips it on another device.
fn on_gpu(bench: &mut Bench<'_>, measure: impl FnOnce(&mut Bench<'_>, &Algorithms) -> Result) -> Result {
    let device = bench.device();
    if !device.is_gpu() {
        bench.skip("it is compared with a library for GPUs");
        return Ok(());
    }
    measure(bench, &Algorithms::new(&device)?)
}
