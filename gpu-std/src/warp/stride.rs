//! Warp-stride loops: the lanes of a warp together visit each index exactly once.

use super::{LaneGroup, warp};
use crate::thread::grid_stride::GridStride;

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
pub fn warp_stride(len: usize) -> GridStride {
    let warp = warp();
    GridStride::new(warp.rank() as usize, len, warp.size() as usize)
}
