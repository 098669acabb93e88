//! Selections: elements that are moved together.

use gpukernel::{Buffer, RawArg};
use gpukernel_algorithms::Algorithms;
use gpukernel_bench::{Bench, Result, bench};

use super::{
    ELEMENTS,
    comparison::{CUB, Limit, OURS, compare},
    cub::{Cub, Workspace},
    input::{four_of_seven, random, runs},
    on_gpu,
    output::Written,
};

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
