//! Warp-stride loops: the lanes of a warp together visit each index exactly once.

use core::iter::FusedIterator;

use super::{LaneGroup, warp};

/// Iterates over the indices below `len` that belong to the calling lane in its warp: lane `i` of `n` gets `i`, `i + n`, `i + 2n`, …
///
/// Each index is visited by exactly one lane of each warp, for what the lanes of a warp do together, such as reading a row.
/// [`block_stride`](crate::block_stride) divides indices among the threads of a block. `len` is at most `isize::MAX`.
///
/// ```
/// use gpu_std::prelude::{warp::*, *};
///
/// /// The sum of each row, by one warp per row.
/// #[kernel(block = 256)]
/// pub fn row_sums(x: View2d<f32>, mut sums: PerWarp<f32>) {
///     let row = global_rank() / 32;
///     let mut mine = 0.0;
///     for column in warp_stride(x.columns()) {
///         mine += x.get((row, column)).copied().unwrap_or(0.0);
///     }
///     let sum = warp().reduce_sum(mine);
///     if let Some((_, of_row)) = sums.first_mut() {
///         *of_row = sum;
///     }
/// }
/// ```
#[doc(alias = "warp_stride_loop")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp_stride(len: usize) -> WarpStride {
    let warp = warp();
    WarpStride { round: 0, rank: warp.rank() as usize, end: len, stride: warp.size() as usize }
}

/// The iterator of [`warp_stride`].
///
/// It counts from 0, the same for all lanes, and adds the rank of the lane to that: so the index is compared in each round, and the compiler removes the
/// check of an access to as many elements.
#[derive(Clone, Debug)]
pub struct WarpStride {
    round: usize,
    rank: usize,
    end: usize,
    stride: usize,
}

impl Iterator for WarpStride {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.round >= self.end {
            return None;
        }
        // `end` is at most isize::MAX and a warp has at most 32 lanes: nothing here overflows.
        let index = self.rank.wrapping_add(self.round);
        self.round = self.round.wrapping_add(self.stride);
        // Only the last round may be partial.
        (index < self.end).then_some(index)
    }
}

impl FusedIterator for WarpStride {}
