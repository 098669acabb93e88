//! What is computed with.

use std::ops::Range;

use gpukernel::Buffer;
use gpukernel_algorithms::{Algorithms, Bits, Element, Random, Uniform};
use gpukernel_bench::Result;

/// Random bits.
pub(super) fn random<T: Element + Random<Bits>>(
    algorithms: &Algorithms,
    seed: u64,
    len: usize,
) -> Result<Buffer<T>> {
    let mut numbers = algorithms.device().zeroed(len)?;
    algorithms.fill_random(seed, &mut numbers)?;
    Ok(numbers)
}

/// Random numbers of a range.
pub(super) fn uniform<T: Element + Random<Uniform>>(
    algorithms: &Algorithms,
    range: Range<T>,
    len: usize,
) -> Result<Buffer<T>> {
    let mut numbers = algorithms.device().zeroed(len)?;
    algorithms.fill_uniform(1, range, &mut numbers)?;
    Ok(numbers)
}

/// Numbers from 0, each seven times.
pub(super) fn runs(algorithms: &Algorithms, len: usize) -> Result<Buffer<u32>> {
    Ok(algorithms.device().upload(&(0..len as u32).map(|i| i / 7).collect::<Vec<_>>())?)
}

/// Flags of which four of seven are set, and how many are.
pub(super) fn four_of_seven(algorithms: &Algorithms, len: usize) -> Result<(Buffer<bool>, usize)> {
    let flags: Vec<_> = (0..len).map(|i| i % 7 % 2 == 0).collect();
    let set = flags.iter().filter(|flag| **flag).count();
    Ok((algorithms.device().upload(&flags)?, set))
}
