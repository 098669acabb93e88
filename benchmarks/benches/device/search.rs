//! Searches.

use gpukernel::RawArg;
use gpukernel_bench::{Bench, Result, bench};

use super::{
    ELEMENTS,
    comparison::{CUB, Limit, OURS, compare, compare_with},
    cub::{Cub, Workspace},
    input::random,
    on_gpu,
    output::Written,
    sort::queue_pairs,
};

type Bound = unsafe extern "C" fn(Workspace, *const u32, *const u32, *mut u64, i64) -> i32;

/// Why searches may take longer than Thrust's.
const LATE: &str = "1.05 of 2^28 keys: not known, both wait for memory";

/// As many needles as keys, in no order.
#[bench(elements = ELEMENTS)]
fn lower_bound_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    const THRUST: &str = "Thrust";
    on_gpu(bench, |bench, algorithms| {
        let device = algorithms.device();
        let mut keys = random::<u32>(algorithms, 1, elements)?;
        algorithms.sort(&mut keys)?;
        let needles = random::<u32>(algorithms, 2, elements)?;
        // SAFETY: its type.
        let mut thrust = unsafe { Cub::<Bound>::load(algorithms.stream(), "lower_bound_u32")? };
        let (mut theirs, mut ours) = (device.zeroed(elements)?, device.zeroed(elements)?);
        compare_with(THRUST, bench, elements, 16 * elements, Some(Limit::Unless(LATE)))
            .expect_like(THRUST)
            .provider(THRUST, &mut theirs, |positions| {
                let (from, sought, to) = (keys.as_ptr(), needles.as_ptr(), positions.as_mut_ptr());
                let args = vec![RawArg::slice(&keys), RawArg::slice(&needles), RawArg::slice_mut(positions)];
                // SAFETY: all have so many elements.
                unsafe {
                    thrust.queue(args, |function, workspace| {
                        function(workspace, from, sought, to, elements as i64)
                    })
                }
            })
            .provider(OURS, &mut ours, |positions| algorithms.lower_bound(&keys, &needles, positions))
            .run()
    })
}

/// The 100 smallest keys and their positions, beside CUB's sort of all, with positions that are written before.
#[bench(elements = ELEMENTS)]
fn bottom_100_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    const K: usize = 100;
    on_gpu(bench, |bench, algorithms| {
        let device = algorithms.device();
        let keys = random::<u32>(algorithms, 1, elements)?;
        let positions = device.upload(&(0..elements as u32).collect::<Vec<_>>())?;
        // SAFETY: its type.
        let mut cub = unsafe { Cub::load(algorithms.stream(), "sort_pairs_u32")? };
        let output = |room| -> Result<_> {
            Ok((Written::<u32>::new(device, room, K)?, Written::<u32>::new(device, room, K)?))
        };
        let (mut theirs, mut ours) = (output(elements)?, output(K)?);
        compare(bench, elements, 4 * elements, Limit::Within)
            .provider(CUB, &mut theirs, |(sorted, moved)| {
                queue_pairs(&mut cub, (&keys, &positions), (&mut sorted.elements, &mut moved.elements))
            })
            .provider(OURS, &mut ours, |(smallest, at)| {
                algorithms.bottom_k(&keys, &mut smallest.elements, &mut at.elements)
            })
            .run()
    })
}
