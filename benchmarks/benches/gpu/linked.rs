//! A kernel whose inner function is in CUDA C, linked in each way, beside the same in CUDA C alone and in Rust alone.

use benchmark_linked::{ROUNDS, iterate, iterate_in_rust};
use gpukernel::{Image, LaunchConfig, RawArg, for_each};
use gpukernel_bench::{Bench, Result, bench};

use super::needs_gpu;

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/iterate.fatbin"));
static NVCC: Image = gpukernel::image!("linked-nvcc");
static CLANG: Image = gpukernel::image!("linked-clang");
static LTO: Image = gpukernel::image!("linked-lto");

/// The logistic map, many times.
#[bench(elements = [1 << 23])]
fn function_in_cuda_c(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    // SAFETY: the build script made it with nvcc.
    let cuda = unsafe { device.load_foreign(CUDA) }?;
    let (nvcc, clang, lto) = (device.load(&NVCC)?, device.load(&CLANG)?, device.load(&LTO)?);
    let rates: Vec<f32> = (0..elements).map(|i| 3.0 + i as f32 / elements as f32).collect();
    let rates = device.upload(&rates)?;
    let mut outputs = Vec::new();
    for _ in 0..5 {
        outputs.push(device.zeroed::<f32>(elements)?);
    }
    let mut outputs = outputs.iter_mut();
    let mut output = || outputs.next().ok_or("there is an output for each provider");
    let grid = for_each(elements);
    bench
        .measure()
        .elements(elements)
        // Each round has two products and a difference, and some have a multiply-add more.
        .flops(3 * ROUNDS as usize * elements)
        .expect_like("all in CUDA C")
        .provider("all in CUDA C", output()?, |y| {
            let args = [RawArg::slice(&rates), RawArg::value(elements), RawArg::slice_mut(y)];
            // SAFETY: the parameters of `iterate` in cuda/iterate.cu, which stays below the length.
            unsafe { cuda.launch("iterate", LaunchConfig::new(elements.div_ceil(256), 256), 0, &args) }
        })
        .provider("all in Rust", output()?, |y| clang.launch(iterate_in_rust, grid, (&rates, y)))
        .provider("linked by clang", output()?, |y| clang.launch(iterate, grid, (&rates, y)))
        .provider("linked by lto", output()?, |y| lto.launch(iterate, grid, (&rates, y)))
        .provider("linked by nvcc", output()?, |y| nvcc.launch(iterate, grid, (&rates, y)))
        .run()
}
