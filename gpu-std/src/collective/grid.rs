//! Grid-wide reduction in one kernel: blocks store partial results in device memory, and the last block to finish combines
//! them.

use super::{BlockScratch, Operator, reduce::reduce_to_first};
use crate::{
    Atomic,
    atomic::{Acquire, AtomicElement, Device, Release, fence},
    block_rank, blocks_per_grid,
    shared::barrier::sync_any,
    thread_rank, threads_per_block,
    warp::WarpElement,
};

impl<T: WarpElement + AtomicElement> BlockScratch<'_, T> {
    /// Combines the values of all threads of the grid (CUB's `DeviceReduce`). One thread, in the block that finishes last,
    /// gets the result; all others get `None`.
    ///
    /// `identity` combined with a value is that value. `parts` has at least as many elements as the grid has blocks; their
    /// previous contents are ignored. `arrived` has to be 0 when the launch begins, and is 0 again when it ends. Both are for
    /// this call only.
    ///
    /// Values are combined in the order of blocks and, within them, of threads, in groups that depend on the dimensions of
    /// block and grid: floating-point results have the same bits on each launch and on each device.
    ///
    /// ```
    /// use gpu_std::prelude::{*, collective::*};
    ///
    /// /// The sum of all elements. `parts` has an element per block.
    /// #[kernel(block = 256)]
    /// pub fn sum(
    ///     x: &[f32],
    ///     parts: &[Atomic<f32>],
    ///     arrived: &[Atomic<u32>],
    ///     mut scratch: BlockScratch<f32>,
    ///     result: &[Atomic<f32>],
    /// ) {
    ///     let mut sum = 0.0;
    ///     for i in grid_stride(x.len()) {
    ///         sum += x[i];
    ///     }
    ///     if let Some(sum) = scratch.reduce_grid(sum, 0.0, Sum, parts, &arrived[0]) {
    ///         result[0].store(sum);
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// If `parts` has fewer elements than the grid has blocks.
    #[doc(alias = "DeviceReduce", alias = "DeviceReduce::Reduce")]
    #[doc(alias = "cuda.reduce")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn reduce_grid(
        &mut self,
        value: T,
        identity: T,
        operator: impl Operator<T>,
        parts: &[Atomic<T>],
        arrived: &Atomic<u32>,
    ) -> Option<T> {
        let blocks = blocks_per_grid();
        let parts = &parts[..blocks];
        let part = reduce_to_first(self, value, &operator);
        // There is a part for each block; `get` avoids a panic, by which threads could diverge.
        let store = part.zip(parts.get(block_rank())).map(|(part, place)| move || place.store(part));
        if !is_last_block(arrived, store) {
            return None;
        }
        // Each thread gets contiguous parts, so that their order is kept.
        let (rank, threads) = (thread_rank() as usize, threads_per_block() as usize);
        let share = |rank: usize| rank * blocks / threads;
        let mut result = identity;
        for part in parts.get(share(rank)..share(rank + 1)).unwrap_or_default() {
            result = operator.combine(result, part.load());
        }
        reduce_to_first(self, result, &operator)
    }
}

/// Lets one thread of the block store its part, and returns whether the block is the last of the grid to do so. Then its threads may read the parts of all.
///
/// All threads of the block call it, of which one gives `store`. `arrived` is 0 before, and again after all blocks have.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn is_last_block(arrived: &Atomic<u32>, store: Option<impl FnOnce()>) -> bool {
    let is_last = store.is_some_and(|store| {
        store();
        arrives_last(arrived)
    });
    let ((), is_last) = sync_any((), is_last);
    if is_last {
        fence(Device, Acquire);
    }
    is_last
}

/// Counts the calling thread's block as one whose part is stored, and returns whether it is the last of the grid. Then the thread may read the parts of all
/// behind a fence that acquires.
///
/// One thread of each block calls it. `arrived` is as for [`is_last_block`].
#[inline(always)]
pub fn arrives_last(arrived: &Atomic<u32>) -> bool {
    // Makes the part of this block visible to the block that finishes last.
    fence(Device, Release);
    let last = (blocks_per_grid() - 1) as u32;
    arrived.fetch_inc(last) == last
}
