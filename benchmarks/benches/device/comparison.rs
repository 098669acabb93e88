//! What measurements beside CUB have in common.

use gpukernel_bench::{Bench, Measurement};

/// The provider that is compared with.
pub(super) const CUB: &str = "CUB";
/// The other provider.
pub(super) const OURS: &str = "gpukernel";

/// Begins a measurement of so many elements, and bytes that are read and written, whose results must be like CUB's.
pub(super) fn compare<'b, 's, V>(
    bench: &'b mut Bench<'s>,
    elements: usize,
    bytes: usize,
) -> Measurement<'b, 's, V> {
    bench.measure().elements(elements).bytes(bytes).expect_like(CUB)
}
