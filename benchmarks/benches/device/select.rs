//! Selections: elements that are moved together.

use benchmark_kernels::select::Below;
use gpukernel::{Buffer, Image, RawArg};
use gpukernel_algorithms::Algorithms;
use gpukernel_bench::{Bench, Result, bench};

use super::{
    ELEMENTS,
    comparison::{CUB, Limit, OURS, compare},
    cub::{Cub, Workspace},
    input::{four_of_seven, random, runs},
    on_gpu,
    output::{Partitioned, Written},
};

static KERNELS: Image = gpukernel::image!("kernels");

/// The elements that were selected, and their number.
type Selected = (Written<u32>, Buffer<u64>);

/// Room for all elements, of which so many are selected.
fn selected(algorithms: &Algorithms, room: usize, len: usize) -> Result<Selected> {
    let device = algorithms.device();
    Ok((Written::new(device, room, len)?, device.zeroed(1)?))
}

type ByFlags = unsafe extern "C" fn(Workspace, *const u32, *const u8, *mut u32, *mut u64, i64) -> i32;

/// Queues an algorithm of CUB that moves elements by their flags to a buffer of the same length.
fn queue_by_flags(
    cub: &mut Cub<ByFlags>,
    (x, flags): (&Buffer<u32>, &Buffer<bool>),
    (to, count): (&mut Buffer<u32>, &mut Buffer<u64>),
) -> Result {
    let (from, bits, len) = (x.as_ptr(), flags.as_ptr().cast(), x.len() as i64);
    let (moved, counted) = (to.as_mut_ptr(), count.as_mut_ptr());
    let args = vec![RawArg::slice(x), RawArg::slice(flags), RawArg::slice_mut(to), RawArg::slice_mut(count)];
    // SAFETY: a function of this type; the count is one, and the other buffers have the same length, as the callers have them.
    unsafe { cub.queue(args, |function, workspace| function(workspace, from, bits, moved, counted, len)) }
}

/// Four of seven elements.
#[bench(elements = ELEMENTS)]
fn select_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = random::<u32>(algorithms, 1, elements)?;
        let (flags, set) = four_of_seven(algorithms, elements)?;
        // SAFETY: its type.
        let mut cub = unsafe { Cub::load(algorithms.stream(), "select_u32")? };
        let mut theirs = selected(algorithms, elements, set)?;
        let mut ours = selected(algorithms, elements, set)?;
        compare(bench, elements, 5 * elements + 4 * set, Limit::Within)
            .provider(CUB, &mut theirs, |(chosen, count)| {
                queue_by_flags(&mut cub, (&x, &flags), (&mut chosen.elements, count))
            })
            .provider(OURS, &mut ours, |(chosen, count)| {
                algorithms.select_to(&x, &flags, &mut chosen.elements, count)
            })
            .run()
    })
}

/// Four of seven elements, and the others, which CUB writes behind them in reverse.
#[bench(elements = ELEMENTS)]
fn partition_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let device = algorithms.device();
        let x = random::<u32>(algorithms, 1, elements)?;
        let (flags, set) = four_of_seven(algorithms, elements)?;
        // SAFETY: its type.
        let mut cub = unsafe { Cub::load(algorithms.stream(), "partition_u32")? };
        let (mut their_count, mut our_count) = (device.zeroed(1)?, device.zeroed(1)?);
        let mut theirs = Partitioned(Written::new(device, elements, set)?);
        let mut ours =
            (Written::new(device, elements, set)?, Written::new(device, elements, elements - set)?);
        compare(bench, elements, 9 * elements, Limit::Within)
            .provider(CUB, &mut theirs, |Partitioned(out)| {
                queue_by_flags(&mut cub, (&x, &flags), (&mut out.elements, &mut their_count))
            })
            .provider(OURS, &mut ours, |(chosen, rest)| {
                let (chosen, rest) = (&mut chosen.elements, &mut rest.elements);
                algorithms.partition_to(&x, &flags, chosen, rest, &mut our_count)
            })
            .run()
    })
}

type ByValue = unsafe extern "C" fn(Workspace, *const u32, *mut u32, *mut u64, i64) -> i32;

/// Queues an algorithm of CUB that moves some elements to a buffer of the same length.
fn queue_by_value(
    cub: &mut Cub<ByValue>,
    x: &Buffer<u32>,
    (to, count): (&mut Buffer<u32>, &mut Buffer<u64>),
) -> Result {
    let (from, len) = (x.as_ptr(), x.len() as i64);
    let (moved, counted) = (to.as_mut_ptr(), count.as_mut_ptr());
    let args = vec![RawArg::slice(x), RawArg::slice_mut(to), RawArg::slice_mut(count)];
    // SAFETY: a function of this type; the count is one, and the other buffers have the same length, as the callers have them.
    unsafe { cub.queue(args, |function, workspace| function(workspace, from, moved, counted, len)) }
}

/// About half of the elements.
#[bench(elements = ELEMENTS)]
fn select_if_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    /// As in `cuda/device.cu`.
    const LIMIT: u32 = 1 << 31;
    on_gpu(bench, |bench, algorithms| {
        let with_kernels = algorithms.clone().with_module(&algorithms.device().load(&KERNELS)?);
        let x = random::<u32>(algorithms, 1, elements)?;
        let below = x.to_vec()?.into_iter().filter(|x| *x < LIMIT).count();
        // SAFETY: its type.
        let mut cub = unsafe { Cub::load(algorithms.stream(), "select_if_u32")? };
        let mut theirs = selected(algorithms, elements, below)?;
        let mut ours = selected(algorithms, elements, below)?;
        compare(bench, elements, 4 * (elements + below), Limit::Within)
            .provider(CUB, &mut theirs, |(chosen, count)| {
                queue_by_value(&mut cub, &x, (&mut chosen.elements, count))
            })
            .provider(OURS, &mut ours, |(chosen, count)| {
                with_kernels.select_if_to(&x, Below { limit: LIMIT }, &mut chosen.elements, count)
            })
            .run()
    })
}

/// Runs of seven elements.
#[bench(elements = ELEMENTS)]
fn unique_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = runs(algorithms, elements)?;
        let distinct = elements.div_ceil(7);
        // SAFETY: its type.
        let mut cub = unsafe { Cub::load(algorithms.stream(), "unique_u32")? };
        let mut theirs = selected(algorithms, elements, distinct)?;
        let mut ours = selected(algorithms, elements, distinct)?;
        let limit = Limit::Unless("the best of 9 shapes; it shares its shape with selections by flags");
        compare(bench, elements, 4 * (elements + distinct), limit)
            .provider(CUB, &mut theirs, |(kept, count)| {
                queue_by_value(&mut cub, &x, (&mut kept.elements, count))
            })
            .provider(OURS, &mut ours, |(kept, count)| algorithms.unique_to(&x, &mut kept.elements, count))
            .run()
    })
}
