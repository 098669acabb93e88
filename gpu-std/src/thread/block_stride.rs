//! Block-stride loops: the threads of a block together visit each index exactly once.
//!
//! Unlike grid-stride loops these loops count from 0, the same for all threads, and add the index of the thread to that: where the launch contract
//! fixes the block, the number of rounds is a constant, so that the loops unroll and the tests are removed.

use core::iter::FusedIterator;

use super::grid_stride::Axis;
use crate::{thread_rank, threads_per_block};

/// Iterates over the indices below `len` that belong to the calling thread in its block: thread `i` of `n` gets `i`, `i + n`, `i + 2n`, …
///
/// Each index is visited by exactly one thread of each block, for what the threads of a block do together, such as reading a row.
/// [`grid_stride`](crate::grid_stride) divides indices among all threads of the grid. `len` is at most `isize::MAX`.
///
/// ```
/// use gpu_std::prelude::{collective::*, *};
///
/// /// The sum of each row, by one block per row.
/// #[kernel(block = 128)]
/// pub fn row_sums(x: View2d<f32>, mut sums: PerBlock<f32>, mut scratch: BlockScratch<f32>) {
///     let mut mine = 0.0;
///     for column in block_stride(x.columns()) {
///         mine += x[(block_rank(), column)];
///     }
///     let sum = scratch.reduce(mine, Sum);
///     if let Some((_, of_row)) = sums.first_mut() {
///         *of_row = sum;
///     }
/// }
/// ```
#[doc(alias = "block_stride_loop")]
#[inline(always)]
pub fn block_stride(len: usize) -> BlockStride {
    BlockStride::new(len)
}

/// The iterator of [`block_stride`].
#[derive(Clone, Debug)]
pub struct BlockStride {
    round: usize,
    axis: Axis,
}

impl BlockStride {
    /// Of an array of `len` elements.
    #[inline(always)]
    pub(crate) fn new(len: usize) -> Self {
        let axis = Axis { start: thread_rank() as usize, end: len, stride: threads_per_block() as usize };
        Self { round: 0, axis }
    }

    /// Whether the thread owns this element.
    #[inline(always)]
    pub(crate) fn takes(&self, index: usize) -> bool {
        self.axis.takes(index)
    }
}

impl Iterator for BlockStride {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.round >= self.axis.end {
            return None;
        }
        // `end` is at most isize::MAX and a block has at most 1024 threads: nothing here overflows.
        let index = self.axis.start.wrapping_add(self.round);
        self.round = self.round.wrapping_add(self.axis.stride);
        // Only the last round may be partial.
        (index < self.axis.end).then_some(index)
    }
}

impl FusedIterator for BlockStride {}
