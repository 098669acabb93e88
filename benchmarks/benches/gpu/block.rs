//! Algorithms of a block beside those of CUB, each repeated in registers: see `cuda/block.cu`.

use benchmark_kernels::block::{self as kernels, Number, THREADS};
use gpu_std::prelude::DeviceCopy;
use gpukernel::{Buffer, DeviceSlice, LaunchConfig, Module, RawArg};
use gpukernel_bench::{Bench, Compare, Output, Result, bench};

use super::{KERNELS, needs_gpu};

static CUB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/block.fatbin"));

/// Twice as many as an H100 runs at once.
const BLOCKS: usize = 2 * 8 * 132;

/// What a kernel leaves, of which every so many elements count: our reductions write the result once per thread.
struct Kept<T: DeviceCopy, const ITEMS: usize> {
    y: Buffer<[T; ITEMS]>,
    step: usize,
    len: usize,
}

impl<T: DeviceCopy + Compare, const ITEMS: usize> Output for Kept<T, ITEMS> {
    type Values = Vec<T>;

    fn values(&self) -> Result<Vec<T>> {
        Ok(self.y.to_vec()?.into_iter().flatten().step_by(self.step).take(self.len).collect())
    }
}

/// Measures both kernels of this name on the same input. Every `step`th of our results is one of CUB's.
fn compare<T, const ITEMS: usize>(
    bench: &mut Bench<'_>,
    kernel: &str,
    step: usize,
    rounds: u32,
    mut launch: impl FnMut(
        &Module,
        &DeviceSlice<[T; ITEMS]>,
        &mut DeviceSlice<[T; ITEMS]>,
    ) -> gpukernel::Result<()>,
) -> Result
where
    T: Number + DeviceCopy + Compare,
{
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    // SAFETY: the build script made it with nvcc.
    let (module, cub) = (device.load(&KERNELS)?, unsafe { device.load_foreign(CUB) }?);
    let input: Vec<[T; ITEMS]> = (0..BLOCKS * THREADS).map(|i| [T::from_index(i % 1021); ITEMS]).collect();
    let x = device.upload(&input)?;
    let (len, nothing) = (input.len() * ITEMS / step, vec![[T::ONE; ITEMS]; input.len()]);
    let mut theirs = Kept { y: device.upload(&nothing)?, step: 1, len };
    let mut ours = Kept { y: device.upload(&nothing)?, step, len };
    let grid = LaunchConfig::new(BLOCKS, THREADS);
    bench
        .measure()
        .elements(input.len() * ITEMS * rounds as usize)
        .expect_like("CUB")
        .tolerance(T::TOLERANCE)
        .provider("CUB", &mut theirs, |theirs| {
            let args = [RawArg::slice(&x), RawArg::value(rounds), RawArg::slice_mut(&mut theirs.y)];
            // SAFETY: the parameters of the kernel in cuda/block.cu; both arrays have `ITEMS` elements per thread.
            unsafe { cub.launch(kernel, grid, 0, &args) }
        })
        .provider("gpukernel", &mut ours, |ours| launch(&module, &x, &mut ours.y))
        .run()
}

/// A benchmark of each kernel: the type and number of what a thread has, how many of our results there are for each of CUB's, and the
/// number of rounds.
macro_rules! benches {
    ($($(#[$doc:meta])* $kernel:ident: [$t:ty; $items:literal], $step:expr, $rounds:expr;)*) => {$(
        $(#[$doc])*
        #[bench]
        fn $kernel(bench: &mut Bench<'_>) -> Result {
            compare::<$t, $items>(bench, stringify!($kernel), $step, $rounds, |module, x, y| {
                module.launch(kernels::$kernel, LaunchConfig::new(BLOCKS, THREADS), (x, $rounds, y))
            })
        }
    )*};
}

benches! {
    reduce_f32_1: [f32; 1], THREADS, 2000;
    reduce_f32_4: [f32; 4], 4 * THREADS, 2000;
    reduce_i32_1: [i32; 1], THREADS, 2000;
    reduce_i32_4: [i32; 4], 4 * THREADS, 2000;
    reduce_max_f32_1: [f32; 1], THREADS, 2000;
    inclusive_f32_1: [f32; 1], 1, 2000;
    inclusive_f32_4: [f32; 4], 1, 2000;
    inclusive_i32_1: [i32; 1], 1, 2000;
    inclusive_i32_4: [i32; 4], 1, 2000;
    exclusive_f32_4: [f32; 4], 1, 2000;
    exclusive_i32_4: [i32; 4], 1, 2000;
    /// With fewer rounds, because one takes as long as thirty of a scan.
    sort_u32_4: [u32; 4], 1, 200;
}

/// The sum of a large array in one kernel: bound by memory, unlike the others.
#[bench(elements = [1 << 26])]
fn sum_f32(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    // SAFETY: the build script made it with nvcc.
    let (module, cub) = (device.load(&KERNELS)?, unsafe { device.load_foreign(CUB) }?);
    let x = device.filled(elements, 0.5_f32)?;
    let (mut their_parts, mut their_count) = (device.zeroed::<f32>(BLOCKS)?, device.zeroed::<u32>(1)?);
    let (mut our_parts, mut our_count) = (device.zeroed::<f32>(BLOCKS)?, device.zeroed::<u32>(1)?);
    let (mut their_sum, mut our_sum) = (device.zeroed::<f32>(1)?, device.zeroed::<f32>(1)?);
    let grid = LaunchConfig::new(BLOCKS, THREADS);
    bench
        .measure()
        .elements(elements)
        .bytes(elements * size_of::<f32>())
        .flops(elements)
        .expect(vec![elements as f32 * 0.5])
        // Sums of halves are exact up to 2²³.
        .tolerance(1e-6)
        .provider("CUB", &mut their_sum, |sum| {
            let args = [
                RawArg::slice(&x),
                RawArg::value(elements),
                RawArg::slice_mut(&mut their_parts),
                RawArg::slice_mut(&mut their_count),
                RawArg::slice_mut(sum),
            ];
            // SAFETY: the parameters of the kernel in cuda/block.cu; there are `elements` elements, a part per block, a count of 0
            // and a result.
            unsafe { cub.launch("sum_f32", grid, 0, &args) }
        })
        .provider("gpukernel", &mut our_sum, |sum| {
            module.launch(kernels::sum_f32, grid, (&x, &mut our_parts, &mut our_count, sum))
        })
        .run()
}
