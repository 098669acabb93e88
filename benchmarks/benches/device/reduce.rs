//! Reductions.

use gpukernel::RawArg;
use gpukernel_algorithms::{ByKey, Min, Sum};
use gpukernel_bench::{Bench, Result, bench};

use super::{
    ELEMENTS,
    comparison::{CUB, Limit, OURS, compare},
    cub::{Cub, Workspace},
    input::{runs, uniform},
    on_gpu,
    output::Written,
    unary::Unary,
};

#[bench(elements = ELEMENTS)]
fn sum_f32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = uniform(algorithms, 0.5_f32..1.5, elements)?;
        let unary = Unary { function: "sum_f32", x: &x, written: 1, tolerance: 1e-5, limit: Limit::Within };
        unary.measure(bench, algorithms, |x, sum| algorithms.reduce_to(x, Sum, 0.0, sum))
    })
}

#[bench(elements = ELEMENTS)]
fn sum_f64(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = uniform(algorithms, 0.5_f64..1.5, elements)?;
        let unary = Unary { function: "sum_f64", x: &x, written: 1, tolerance: 1e-12, limit: Limit::Within };
        unary.measure(bench, algorithms, |x, sum| algorithms.reduce_to(x, Sum, 0.0, sum))
    })
}

#[bench(elements = ELEMENTS)]
fn min_f32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = uniform(algorithms, 0.5_f32..1.5, elements)?;
        let unary = Unary { function: "min_f32", x: &x, written: 1, tolerance: 0.0, limit: Limit::Within };
        unary.measure(bench, algorithms, |x, min| algorithms.reduce_to(x, Min, f32::INFINITY, min))
    })
}

type ArgMax = unsafe extern "C" fn(Workspace, *const f32, *mut f32, *mut u64, i64) -> i32;

/// CUB writes the maximum, too.
#[bench(elements = ELEMENTS)]
fn arg_max_f32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let device = algorithms.device();
        let x = uniform(algorithms, 0.5_f32..1.5, elements)?;
        let mut max = device.zeroed(1)?;
        // SAFETY: its type.
        let mut cub = unsafe { Cub::<ArgMax>::load(algorithms.stream(), "arg_max_f32")? };
        let (mut theirs, mut ours) = (device.zeroed(1)?, device.zeroed(1)?);
        compare(bench, elements, 4 * elements, Limit::Within)
            .provider(CUB, &mut theirs, |position| {
                let (from, to, at) = (x.as_ptr(), max.as_mut_ptr(), position.as_mut_ptr());
                let args = vec![RawArg::slice(&x), RawArg::slice_mut(&mut max), RawArg::slice_mut(position)];
                // SAFETY: `x` has as many elements, and the others one.
                unsafe {
                    cub.queue(args, |function, workspace| function(workspace, from, to, at, elements as i64))
                }
            })
            .provider(OURS, &mut ours, |position| algorithms.arg_max_to(&x, position))
            .run()
    })
}

type ReduceByKey =
    unsafe extern "C" fn(Workspace, *const u32, *mut u32, *const f32, *mut f32, *mut u64, i64) -> i32;

/// Runs of seven keys.
#[bench(elements = ELEMENTS)]
fn reduce_by_key_u32_f32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let device = algorithms.device();
        let keys = runs(algorithms, elements)?;
        let values = uniform(algorithms, 0.5_f32..1.5, elements)?;
        let distinct = elements.div_ceil(7);
        // SAFETY: its type.
        let mut cub = unsafe { Cub::<ReduceByKey>::load(algorithms.stream(), "reduce_by_key_u32_f32")? };
        let output = || -> Result<_> {
            let keys = Written::<u32>::new(device, elements, distinct)?;
            Ok((keys, Written::<f32>::new(device, elements, distinct)?, device.zeroed::<u64>(1)?))
        };
        let (mut theirs, mut ours) = (output()?, output()?);
        compare(bench, elements, 8 * (elements + distinct), Limit::Within)
            .tolerance(1e-6)
            .provider(CUB, &mut theirs, |(each, sums, count)| {
                let (from, added) = (keys.as_ptr(), values.as_ptr());
                let (to, to_sums) = (each.elements.as_mut_ptr(), sums.elements.as_mut_ptr());
                let counted = count.as_mut_ptr();
                let args = vec![
                    RawArg::slice(&keys),
                    RawArg::slice(&values),
                    RawArg::slice_mut(&mut each.elements),
                    RawArg::slice_mut(&mut sums.elements),
                    RawArg::slice_mut(count),
                ];
                // SAFETY: the count is one, and there are as many of the others as keys.
                unsafe {
                    cub.queue(args, |function, workspace| {
                        function(workspace, from, to, added, to_sums, counted, elements as i64)
                    })
                }
            })
            .provider(OURS, &mut ours, |(each, sums, count)| {
                let out = ByKey { keys: &mut each.elements, values: &mut sums.elements };
                algorithms.reduce_by_key_to(&keys, &values, Sum, out, count)
            })
            .run()
    })
}
