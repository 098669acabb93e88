//! Outputs with one element per block.

use super::owned::{extents, owned_output};
use crate::{block_rank, blocks_per_grid, thread::grid_stride::GridStride, thread_rank};

owned_output! {
    /// The elements of a slice that belong to the calling block, written by its first thread: for results of which each block has
    /// one, such as partial sums.
    ///
    /// Block `i` of `n` owns the elements `i`, `i + n`, … where `i` is its [`block_rank`]. Only its thread with [`thread_rank`] 0
    /// gets them, the others get none. A kernel that takes `PerBlock` is launched along one axis unless its contract says more.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// /// The sum of each 256 elements.
    /// #[kernel(block = 256)]
    /// pub fn sums(x: &[f32], mut sums: PerBlock<f32>, mut part: Shared<f32, 256>) {
    ///     for (i, element) in &mut part {
    ///         *element = x.get(block_rank() * 256 + i).copied().unwrap_or(0.0);
    ///     }
    ///     let part = sync(part);
    ///     if let Some((_, sum)) = sums.first_mut() {
    ///         *sum = part.iter().sum();
    ///     }
    /// }
    /// ```
    PerBlock iterated by PerBlockIter,
    along 1 axes,
    "elements of this block, in its first thread," at "index": usize,
    layout: usize,
    places: GridStride = |len| GridStride::of_blocks(if thread_rank() == 0 { *len } else { 0 }),
    divided among: others,
    passed as: slice
}

extents! { PerBlock along one axis, |output| output.layout }

impl GridStride {
    /// The indices below `len` that the calling block takes.
    #[inline(always)]
    pub(crate) fn of_blocks(len: usize) -> Self {
        Self::new(block_rank(), len, blocks_per_grid())
    }
}
