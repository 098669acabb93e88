//! Histograms.

use gpu_std::prelude::*;

use crate::{Element, tile};

/// The number of bins for which each block has counters of its own.
pub(crate) const SHARED_BINS: usize = 4096;

/// A type of numbers that are counted in bins of the same width.
pub(crate) trait Sample: Element + PartialOrd {
    /// The bin of a number that is at least `low` and less than `high`, of so many: less than that.
    #[doc(hidden)]
    fn bin(self, low: Self, high: Self, bins: u32) -> u32;
    /// Whether the difference is a number.
    #[doc(hidden)]
    #[cfg(not(target_arch = "nvptx64"))]
    fn is_finite(self, other: Self) -> bool;
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

            #[cfg(not(target_arch = "nvptx64"))]
            fn is_finite(self, _: Self) -> bool {
                true
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

            #[cfg(not(target_arch = "nvptx64"))]
            fn is_finite(self, other: Self) -> bool {
                (self - other).is_finite()
            }
        }
    )*};
}

floats! { f32 f64 }

/// Adds to each counter how many numbers are in its bin, of `counts.len()` bins of the same width from `low` up to `high`. Others, NaNs among them, are
/// not counted.
#[kernel(block = 256)]
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
            if is_shared {
                counters[bin % SHARED_BINS].fetch_add(1);
            } else if let Some(count) = counts.get(bin) {
                count.fetch_add(1);
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
