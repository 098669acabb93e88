//! Algorithms of a block beside those of CUB, each repeated in registers: see `cuda/block.cu`.

use benchmark_kernels::block::{
    Number, THREADS, exclusive_f32_4, exclusive_i32_4, inclusive_f32_1, inclusive_f32_4, inclusive_i32_1,
    inclusive_i32_4, reduce_f32_1, reduce_f32_4, reduce_i32_1, reduce_i32_4, reduce_max_f32_1, sort_u32_4,
    sum_f32,
};
use gpukernel::{Device, Error, ForeignModule, LaunchConfig, Module, RawArg};
use gpukernel_benchmarks::{TimedRun, compare, print_row};

static CUB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/block.fatbin"));

/// Twice as many as an H100 runs at once.
const BLOCKS: usize = 2 * 8 * 132;
const REPETITIONS: u32 = 2000;

/// Measures both kernels of this name on the same input, and prints a row; `$every` is every how many of our results there is
/// one of theirs.
macro_rules! row {
    ($device:ident, $ours:ident, $theirs:ident; $text:literal, $kernel:ident: [$t:ty; $items:literal], $every:expr) => {{
        let input: Vec<[$t; $items]> =
            (0..BLOCKS * THREADS).map(|i| [<$t>::from_index(i % 1021); $items]).collect();
        let x = $device.upload(&input)?;
        let mut our_y = $device.zeroed::<[$t; $items]>(input.len())?;
        let mut their_y = $device.zeroed::<[$t; $items]>(input.len())?;
        let our_way: TimedRun<'_> = Box::new(|| {
            super::time($device, || {
                $ours.launch($kernel, LaunchConfig::new(BLOCKS, THREADS), (&x, REPETITIONS, &mut our_y))
            })
        });
        let their_way: TimedRun<'_> = Box::new(|| {
            super::time($device, || {
                let args = [RawArg::slice(&x), RawArg::value(REPETITIONS), RawArg::slice_mut(&mut their_y)];
                // SAFETY: the parameters of the kernel in cuda/block.cu; both arrays have `ITEMS` elements per thread.
                unsafe { $theirs.launch(stringify!($kernel), LaunchConfig::new(BLOCKS, THREADS), 0, &args) }
            })
        });
        print_row($text, "", Some(&compare(our_way, their_way)?));
        let (our_y, their_y) = (our_y.to_vec()?.concat(), their_y.to_vec()?.concat());
        let differing = (our_y.iter().step_by($every))
            .zip(&their_y)
            .filter(|(ours, theirs)| !ours.is_close_to(**theirs))
            .count();
        assert_eq!(differing, 0, "results of {} that differ from CUB's", stringify!($kernel));
    }};
}

/// Prints a row for each algorithm.
pub(crate) fn compare_all(device: &Device, ours: &Module) -> Result<(), Error> {
    // SAFETY: the build script made it with nvcc.
    let cub = unsafe { device.load_foreign(CUB) }?;
    row!(device, ours, cub; "reduce, f32", reduce_f32_1: [f32; 1], THREADS);
    row!(device, ours, cub; "reduce, 4 × f32 per thread", reduce_f32_4: [f32; 4], 4 * THREADS);
    row!(device, ours, cub; "reduce, i32", reduce_i32_1: [i32; 1], THREADS);
    row!(device, ours, cub; "reduce, 4 × i32 per thread", reduce_i32_4: [i32; 4], 4 * THREADS);
    row!(device, ours, cub; "reduce to the largest, f32", reduce_max_f32_1: [f32; 1], THREADS);
    row!(device, ours, cub; "inclusive scan, f32", inclusive_f32_1: [f32; 1], 1);
    row!(device, ours, cub; "inclusive scan, 4 × f32 per thread", inclusive_f32_4: [f32; 4], 1);
    row!(device, ours, cub; "inclusive scan, i32", inclusive_i32_1: [i32; 1], 1);
    row!(device, ours, cub; "inclusive scan, 4 × i32 per thread", inclusive_i32_4: [i32; 4], 1);
    row!(device, ours, cub; "exclusive scan, 4 × f32 per thread", exclusive_f32_4: [f32; 4], 1);
    row!(device, ours, cub; "exclusive scan, 4 × i32 per thread", exclusive_i32_4: [i32; 4], 1);
    row!(device, ours, cub; "radix sort, 4 × u32 per thread", sort_u32_4: [u32; 4], 1);
    compare_sum(device, ours, &cub)
}

/// The sum of a large array in one kernel: bound by memory, unlike the others.
fn compare_sum(device: &Device, ours: &Module, cub: &ForeignModule) -> Result<(), Error> {
    const LENGTH: usize = 1 << 26;
    let x = device.filled(LENGTH, 0.5_f32)?;
    let (mut our_parts, mut our_count) = (device.zeroed::<f32>(BLOCKS)?, device.zeroed::<u32>(1)?);
    let (mut their_parts, mut their_count) = (device.zeroed::<f32>(BLOCKS)?, device.zeroed::<u32>(1)?);
    let (mut our_sum, mut their_sum) = (device.zeroed::<f32>(1)?, device.zeroed::<f32>(1)?);
    let grid = LaunchConfig::new(BLOCKS, THREADS);
    let our_way: TimedRun<'_> = Box::new(|| {
        super::time(device, || ours.launch(sum_f32, grid, (&x, &mut our_parts, &mut our_count, &mut our_sum)))
    });
    let their_way: TimedRun<'_> = Box::new(|| {
        super::time(device, || {
            let args = [
                RawArg::slice(&x),
                RawArg::value(LENGTH),
                RawArg::slice_mut(&mut their_parts),
                RawArg::slice_mut(&mut their_count),
                RawArg::slice_mut(&mut their_sum),
            ];
            // SAFETY: the parameters of the kernel in cuda/block.cu; there are `LENGTH` elements, a part per block, a count of 0
            // and a result.
            unsafe { cub.launch("sum_f32", grid, 0, &args) }
        })
    });
    print_row("sum of 2²⁶ f32 in one kernel", "", Some(&compare(our_way, their_way)?));
    assert_eq!(our_sum.to_vec()?, their_sum.to_vec()?, "the sums of halves are exact");
    Ok(())
}
