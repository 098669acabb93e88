//! What measurements beside libraries have in common.

use gpukernel_bench::{Bench, Measurement};

/// A provider that is compared with.
pub(super) const CUB: &str = "CUB";
/// The provider whose time is limited.
pub(super) const OURS: &str = "gpukernel";

/// The largest ratio of our time to CUB's.
const RATIO: f64 = 1.05;

/// Ratios of so many elements and more are limited: the shapes of our tiles were chosen for 2²⁸, or 2²⁷ of 64 bits.
const LARGE: usize = 1 << 27;

/// What is asked of the ratio of our time to theirs for large numbers of elements.
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
    let limit = (elements >= LARGE).then_some(limit);
    compare_with(CUB, bench, elements, bytes, limit).expect_like(CUB)
}

/// Begins a measurement beside that provider.
pub(super) fn compare_with<'b, 's, V>(
    theirs: &str,
    bench: &'b mut Bench<'s>,
    elements: usize,
    bytes: usize,
    limit: Option<Limit>,
) -> Measurement<'b, 's, V> {
    let measurement = bench.measure().elements(elements).bytes(bytes);
    match limit {
        None => measurement,
        Some(Limit::Within) => measurement.limit(OURS, theirs, RATIO),
        Some(Limit::Unless(reason)) => measurement.limit_unless(OURS, theirs, RATIO, reason),
    }
}
