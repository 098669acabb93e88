//! Sorts.

use gpukernel::{Buffer, RawArg};
use gpukernel_bench::{Bench, Result, bench};

use super::{
    ELEMENTS,
    comparison::{CUB, Limit, OURS, compare},
    cub::{Cub, Workspace},
    input::random,
    on_gpu,
    unary::Unary,
};

#[bench(elements = ELEMENTS)]
fn sort_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = random::<u32>(algorithms, 1, elements)?;
        let unary =
            Unary { function: "sort_u32", x: &x, written: elements, tolerance: 0.0, limit: Limit::Within };
        unary.measure(bench, algorithms, |x, sorted| algorithms.sort_to(x, sorted))
    })
}

#[bench(elements = [1 << 20, 1 << 24, 1 << 27])]
fn sort_u64(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = random::<u64>(algorithms, 1, elements)?;
        let unary =
            Unary { function: "sort_u64", x: &x, written: elements, tolerance: 0.0, limit: Limit::Within };
        unary.measure(bench, algorithms, |x, sorted| algorithms.sort_to(x, sorted))
    })
}

#[bench(elements = ELEMENTS)]
fn sort_descending_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = random::<u32>(algorithms, 1, elements)?;
        let unary = Unary {
            function: "sort_descending_u32",
            x: &x,
            written: elements,
            tolerance: 0.0,
            limit: Limit::Within,
        };
        unary.measure(bench, algorithms, |x, sorted| algorithms.sort_descending_to(x, sorted))
    })
}

type Pairs = unsafe extern "C" fn(Workspace, *const u32, *mut u32, *const u32, *mut u32, i64) -> i32;

/// Queues CUB's sort of keys and values to buffers of the same length.
pub(super) fn queue_pairs(
    cub: &mut Cub<Pairs>,
    (keys, values): (&Buffer<u32>, &Buffer<u32>),
    (sorted, moved): (&mut Buffer<u32>, &mut Buffer<u32>),
) -> Result {
    let (from, to) = ((keys.as_ptr(), values.as_ptr()), (sorted.as_mut_ptr(), moved.as_mut_ptr()));
    let len = keys.len() as i64;
    let args =
        vec![RawArg::slice(keys), RawArg::slice(values), RawArg::slice_mut(sorted), RawArg::slice_mut(moved)];
    // SAFETY: the function of this type; all buffers have the same length, as the callers have them.
    unsafe { cub.queue(args, |function, workspace| function(workspace, from.0, to.0, from.1, to.1, len)) }
}

/// Why sorts of pairs may take longer than CUB's.
const WITH_VALUES: &str = "1.06: values take registers beside keys, and these are the best of 36 shapes";

#[bench(elements = ELEMENTS)]
fn sort_pairs_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let keys = random::<u32>(algorithms, 1, elements)?;
        let values = random::<u32>(algorithms, 2, elements)?;
        // SAFETY: its type.
        let mut cub = unsafe { Cub::load(algorithms.stream(), "sort_pairs_u32")? };
        let output = || -> Result<(Buffer<u32>, Buffer<u32>)> {
            Ok((algorithms.device().zeroed(elements)?, algorithms.device().zeroed(elements)?))
        };
        let (mut theirs, mut ours) = (output()?, output()?);
        compare(bench, elements, 16 * elements, Limit::Unless(WITH_VALUES))
            .provider(CUB, &mut theirs, |(sorted, moved)| {
                queue_pairs(&mut cub, (&keys, &values), (sorted, moved))
            })
            .provider(OURS, &mut ours, |(sorted, moved)| {
                algorithms.sort_pairs_to((&keys, &values), (sorted, moved))
            })
            .run()
    })
}

/// Beside CUB's sort of pairs whose values are the positions, which are written before: it writes the sorted keys, too.
#[bench(elements = ELEMENTS)]
fn argsort_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let device = algorithms.device();
        let keys = random::<u32>(algorithms, 1, elements)?;
        let positions = device.upload(&(0..elements as u32).collect::<Vec<_>>())?;
        let mut sorted = device.zeroed(elements)?;
        // SAFETY: its type.
        let mut cub = unsafe { Cub::load(algorithms.stream(), "sort_pairs_u32")? };
        let (mut theirs, mut ours) = (device.zeroed(elements)?, device.zeroed(elements)?);
        compare(bench, elements, 8 * elements, Limit::Unless(WITH_VALUES))
            .provider(CUB, &mut theirs, |indices| {
                queue_pairs(&mut cub, (&keys, &positions), (&mut sorted, indices))
            })
            .provider(OURS, &mut ours, |indices| algorithms.argsort(&keys, indices))
            .run()
    })
}
