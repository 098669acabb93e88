//! Scans.

use gpukernel_algorithms::Sum;
use gpukernel_bench::{Bench, Result, bench};

use super::{
    ELEMENTS,
    comparison::Limit,
    input::{random, uniform},
    on_gpu,
    unary::Unary,
};

#[bench(elements = ELEMENTS)]
fn scan_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = random::<u32>(algorithms, 1, elements)?;
        let unary =
            Unary { function: "scan_u32", x: &x, written: elements, tolerance: 0.0, limit: Limit::Within };
        unary.measure(bench, algorithms, |x, sums| algorithms.inclusive_scan(x, Sum, sums))
    })
}

#[bench(elements = ELEMENTS)]
fn exclusive_scan_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = random::<u32>(algorithms, 1, elements)?;
        let unary = Unary {
            function: "exclusive_scan_u32",
            x: &x,
            written: elements,
            tolerance: 0.0,
            limit: Limit::Within,
        };
        unary.measure(bench, algorithms, |x, sums| algorithms.exclusive_scan(x, Sum, 0, sums))
    })
}

#[bench(elements = ELEMENTS)]
fn scan_f32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = uniform(algorithms, 0.5_f32..1.5, elements)?;
        let unary =
            Unary { function: "scan_f32", x: &x, written: elements, tolerance: 1e-4, limit: Limit::Within };
        unary.measure(bench, algorithms, |x, sums| algorithms.inclusive_scan(x, Sum, sums))
    })
}

#[bench(elements = ELEMENTS)]
fn scan_f64(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = uniform(algorithms, 0.5_f64..1.5, elements)?;
        let limit = Limit::Unless(
            "the best of 27 shapes of tiles and distances of prefetches; it spills 56 bytes of registers",
        );
        let unary = Unary { function: "scan_f64", x: &x, written: elements, tolerance: 1e-10, limit };
        unary.measure(bench, algorithms, |x, sums| algorithms.inclusive_scan(x, Sum, sums))
    })
}
