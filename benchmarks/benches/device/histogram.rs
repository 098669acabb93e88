//! Histograms.

use gpukernel_bench::{Bench, Result, bench};

use super::{
    ELEMENTS,
    comparison::Limit,
    input::{random, uniform},
    on_gpu,
    unary::Unary,
};

/// Random bytes, a bin for each.
#[bench(elements = ELEMENTS)]
fn histogram_u8(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        // CUB counts up to 256, which is no byte; 255 is in no bin of ours.
        let bits = random::<u32>(algorithms, 1, elements / 4)?.to_vec()?;
        let bytes: Vec<u8> = bits.into_iter().flat_map(u32::to_le_bytes).map(|x| x.min(254)).collect();
        let x = algorithms.device().upload(&bytes)?;
        let unary =
            Unary { function: "histogram_u8", x: &x, written: 255, tolerance: 0.0, limit: Limit::Within };
        unary.measure(bench, algorithms, |x, counts| algorithms.histogram(x, 0..255, counts))
    })
}

/// Numbers of 21 bits, some of which are in no bin. A bin has 7812.5 numbers, so that each takes a division.
#[bench(elements = ELEMENTS)]
fn histogram_i32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let bits = random::<u32>(algorithms, 1, elements)?.to_vec()?;
        let numbers: Vec<i32> = bits.into_iter().map(|bits| bits as i32 >> 11).collect();
        let x = algorithms.device().upload(&numbers)?;
        let unary =
            Unary { function: "histogram_i32", x: &x, written: 256, tolerance: 0.0, limit: Limit::Within };
        unary.measure(bench, algorithms, |x, counts| algorithms.histogram(x, -1_000_000..1_000_000, counts))
    })
}

/// The ends of the bins are exact, because their width is a power of two: both sides count the same.
#[bench(elements = ELEMENTS)]
fn histogram_f32(bench: &mut Bench<'_>, elements: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let x = uniform(algorithms, -1.0_f32..1.0, elements)?;
        let unary =
            Unary { function: "histogram_f32", x: &x, written: 256, tolerance: 0.0, limit: Limit::Within };
        unary.measure(bench, algorithms, |x, counts| algorithms.histogram(x, -1.0..1.0, counts))
    })
}
