//! Histograms.

use gpu_std::prelude::*;

use crate::{
    Element,
    tile::{self, RESIDENT_BLOCKS},
};

/// The number of bins for which each block has counters of its own.
pub(crate) const SHARED_BINS: usize = 4096;

/// A type of numbers that are counted in bins of the same width, by kernels that [`histogram!`](crate::histogram) declares.
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use gpu_std::prelude::*;
/// use gpukernel_algorithms_kernels::{Sample, histogram};
///
/// /// An amount of money.
/// #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, DeviceCopy, Pod, Zeroable)]
/// #[repr(transparent)]
/// pub struct Cents(i64);
///
/// impl Sample for Cents {
///     fn bin(self, low: Self, high: Self, bins: u32) -> u32 {
///         ((self.0 - low.0) as u64 * u64::from(bins) / (high.0 - low.0) as u64) as u32
///     }
/// }
///
/// histogram! {
///     pub mod histogram_of_cents = Cents;
/// }
/// # fn main() {}
/// ```
pub trait Sample: Element + PartialOrd {
    /// The bin of a number that is at least `low` and less than `high`, of so many: less than that, or it is not counted.
    fn bin(self, low: Self, high: Self, bins: u32) -> u32;

    /// Whether numbers can be counted from `low` up to `high`.
    fn is_range(low: Self, high: Self) -> bool {
        low < high
    }
}

macro_rules! integers {
    ($($t:ident: $unsigned:ident)*) => {$(
        impl Sample for $t {
            #[inline(always)]
            fn bin(self, low: Self, high: Self, bins: u32) -> u32 {
                // Both are less than 2³².
                let (above, width) = (self.wrapping_sub(low) as $unsigned as u32, high.wrapping_sub(low) as $unsigned as u32);
                // Mostly each number has a bin; a division of 64 bits takes longer than all else.
                if width == bins {
                    return above;
                }
                (u64::from(above) * u64::from(bins) / u64::from(width.max(1))) as u32
            }
        }
    )*};
}

integers! { u8: u8 i32: u32 u32: u32 }

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            #[inline(always)]
            fn bin(self, low: Self, high: Self, bins: u32) -> u32 {
                // Rounded up, the last number below `high` could be in a bin more.
                (((self - low) / (high - low) * bins as $t) as u32).min(bins.saturating_sub(1))
            }

            fn is_range(low: Self, high: Self) -> bool {
                low < high && (high - low).is_finite()
            }
        }
    )*};
}

floats! { f32 f64 }

/// Adds to each counter how many numbers are in its bin, of `counts.len()` bins of the same width from `low` up to `high`. Others, NaNs among them, are
/// not counted.
#[kernel(block = 256, min_blocks_per_sm = RESIDENT_BLOCKS)]
pub fn histogram<T: Sample, const V: usize>(
    x: &[T],
    low: T,
    high: T,
    counts: &[Atomic<u64>],
    counters: SharedAtomics<u32, 4096>,
) {
    let bins = counts.len() as u32;
    let is_shared = counts.len() <= SHARED_BINS;
    if is_shared {
        for i in block_stride(counts.len()) {
            counters[i % SHARED_BINS].store(0);
        }
        sync(());
    }
    let count = |x: T| {
        if x >= low && x < high {
            let bin = x.bin(low, high, bins) as usize;
            match counts.get(bin) {
                Some(_) if is_shared => {
                    counters[bin % SHARED_BINS].fetch_add(1);
                }
                Some(count) => {
                    count.fetch_add(1);
                }
                None => {}
            }
        }
    };
    let mut tile = block_rank();
    while tile < x.len().div_ceil(tile::tile_len(V)) {
        // `high` is in no bin.
        let rows = tile::load::<T, V>(x, tile, high);
        for row in 0..tile::ROWS {
            for lane in 0..V {
                count(rows[row][lane]);
            }
        }
        tile += gpu_std::blocks_per_grid();
    }
    if is_shared {
        sync(());
        for i in block_stride(counts.len()) {
            let found = counters[i % SHARED_BINS].load();
            if found != 0 {
                counts[i].fetch_add(found.into());
            }
        }
    }
}
