//! Forces between bodies.

use benchmark_kernels::draft::particles as draft;
use benchmark_tuned::particles as tuned;
use gpukernel::{LaunchConfig, RawArg, for_each};
use gpukernel_bench::{Bench, Result, bench};
use gpukernel_benchmarks::noise;

use super::{Row, size, zeroed};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-particles.fatbin"));

#[bench(bodies = |device| [size(device, 1 << 15, 1 << 10)])]
fn n_body(bench: &mut Bench<'_>, bodies: usize) -> Result {
    let numbers: Vec<[f32; 4]> =
        noise(4 * bodies).chunks(4).map(|body| body.try_into().unwrap_or_default()).collect();
    let from = bench.device().upload(&numbers)?;
    let mut outputs = zeroed::<[f32; 3]>(bench, bodies)?;
    let len = u32::try_from(bodies)?;
    // For each pair: a distance takes 3, its square and the softening 6, the strength a root and 3, the sum 6.
    let measurement = bench.measure().elements(bodies).flops(19 * bodies * bodies).tolerance(1e-2);
    Row::new(measurement, &mut outputs)
        .reason("the author says that fewer blocks at once are enough (`min_blocks_per_sm`), which made other kernels slower; nvcc's code has the same")
        .nvcc(CUDA, |cuda, sums| {
            let args = [RawArg::slice(&from), RawArg::value(len), RawArg::slice_mut(sums)];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays below the length.
            unsafe { cuda.launch("n_body", LaunchConfig::new(bodies.div_ceil(256), 256), 0, &args) }
        })?
        .draft(|module, sums| module.launch(draft::n_body, for_each(bodies), (&from, sums)))?
        .tuned(|module, sums| module.launch(tuned::n_body, for_each(bodies), (&from, sums)))?
        .run()
}
