//! Histograms.

use gpukernel_bench::{Bench, Result, bench};

use super::{ELEMENTS, comparison::Limit, input::random, on_gpu, unary::Unary};

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
