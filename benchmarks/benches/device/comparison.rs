//! What measurements beside CUB have in common.

use gpukernel_bench::{Bench, Measurement};

/// The provider that is compared with.
pub(super) const CUB: &str = "CUB";
/// The provider whose time is limited.
pub(super) const OURS: &str = "gpukernel";

/// The largest ratio of our time to CUB's.
const RATIO: f64 = 1.05;

/// Ratios of so many elements and more are limited: the shapes of our tiles were chosen for 2²⁸, or 2²⁷ of 64 bits.
const LARGE: usize = 1 << 27;

/// What is asked of the ratio of our time to CUB's for large numbers of elements.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    /// It is at most 1.05.
    Within,
    /// It is at most 1.05, or more for this reason.
    Unless(&'static str),
}

/// Begins a measurement of so many elements, and bytes that are read and written, whose results must be like CUB's.
pub(super) fn compare<'b, 's, V>(
    bench: &'b mut Bench<'s>,
    elements: usize,
    bytes: usize,
    limit: Limit,
) -> Measurement<'b, 's, V> {
    let measurement = bench.measure().elements(elements).bytes(bytes).expect_like(CUB);
    match limit {
        _ if elements < LARGE => measurement,
        Limit::Within => measurement.limit(OURS, CUB, RATIO),
        Limit::Unless(reason) => measurement.limit_unless(OURS, CUB, RATIO, reason),
    }
}
