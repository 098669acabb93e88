//! Products of small matrices.

use benchmark_kernels::draft::lattices::{self as draft, LINKS, Matrix};
use gpu_std::complex::Complex;
use gpukernel::{LaunchConfig, RawArg, for_each};
use gpukernel_bench::{Bench, Result, bench};
use gpukernel_benchmarks::noise;

use super::{Row, needs_gpu, zeroed};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-lattices.fatbin"));

#[bench(links = [1 << 22])]
fn su3(bench: &mut Bench<'_>, links: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let (device, count) = (bench.device(), links);
    let matrices = |count: usize| -> Vec<Matrix> {
        let numbers = noise(18 * count);
        let matrix = |all: &[f32]| {
            std::array::from_fn(|i| {
                std::array::from_fn(|j| Complex::new(all[6 * i + 2 * j], all[6 * i + 2 * j + 1]))
            })
        };
        numbers.chunks(18).map(matrix).collect()
    };
    let links = device.upload(&matrices(count))?;
    let directions = device.upload(&matrices(LINKS))?;
    let mut outputs = zeroed::<Matrix>(bench, count)?;
    let measurement = bench
        .measure()
        .elements(count)
        .bytes(2 * count * size_of::<Matrix>()) // reads links, writes products
        .flops(198 * count) // for 9 elements 3 products, of 6, and 2 sums, of 2
        .tolerance(1e-5);
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, products| {
            let args = [
                RawArg::slice(&links),
                RawArg::slice(&directions),
                RawArg::slice_mut(products),
                RawArg::value(count),
            ];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays below the length.
            unsafe { cuda.launch("su3", LaunchConfig::new(count.div_ceil(256), 256), 0, &args) }
        })?
        .draft(|module, products| {
            module.launch(draft::su3, for_each(count), (&links, &directions, products))
        })?
        .run()
}
