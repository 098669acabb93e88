//! Outputs with one element per warp.

use super::owned::{extents, owned_output};
use crate::{
    block_rank, blocks_per_grid,
    thread::grid_stride::GridStride,
    thread_rank,
    warp::{WARP_SIZE, warp_index, warps_per_block},
};

owned_output! {
    /// The elements of a slice that belong to the calling warp, written by its first lane: for results of which each warp has one, such as the
    /// rows of a sparse matrix-vector product.
    ///
    /// Warp `i` of `n` owns the elements `i`, `i + n`, … where `i` is `block_rank() * warps_per_block() + warp_index()`; the last
    /// warp of a block may have fewer than 32 threads. Only its lane 0 gets them, the others get none. A kernel
    /// that takes `PerWarp` is launched along one axis unless its contract says more.
    ///
    /// ```
    /// use gpu_std::prelude::{warp::*, *};
    ///
    /// /// The sums of rows of 32 elements, one row per warp.
    /// #[kernel(block = 256)]
    /// pub fn row_sums(x: &[f32], mut sums: PerWarp<f32>) {
    ///     let lane = warp().rank() as usize;
    ///     let sum = warp().reduce_sum(x[global_rank() / 32 * 32 + lane]);
    ///     if let Some((_, of_row)) = sums.first_mut() {
    ///         *of_row = sum;
    ///     }
    /// }
    /// ```
    #[doc(alias = "warpId", alias = "warp_id", alias = "laneId")]
    PerWarp iterated by PerWarpIter,
    along 1 axes,
    "elements of this warp, in its first lane," at "index": usize,
    layout: usize,
    places: GridStride = |len| GridStride::of_warps(if thread_rank().is_multiple_of(WARP_SIZE) { *len } else { 0 }),
    divided among: others,
    passed as: slice
}

extents! { PerWarp along one axis, |output| output.layout }

impl GridStride {
    /// The indices below `len` that the calling warp takes.
    #[inline(always)]
    pub(crate) fn of_warps(len: usize) -> Self {
        let per_block = warps_per_block() as usize;
        // A grid has at most isize::MAX threads, so nothing here overflows.
        let rank = block_rank().wrapping_mul(per_block).wrapping_add(warp_index() as usize);
        Self::new(rank, len, blocks_per_grid().wrapping_mul(per_block))
    }
}
