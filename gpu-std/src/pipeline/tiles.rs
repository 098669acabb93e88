//! How a pipeline whose order matters is divided: each block gets adjacent tiles, in each of which a thread gets a chunk.

use core::ops::Range;

use super::{ParallelIterator, Position};
use crate::{block_rank, blocks_per_grid, sync_count, thread_rank, threads_per_block};

/// The tiles of the calling block, of a pipeline of so many positions.
#[inline(always)]
pub(super) fn own_tiles<const LANES: usize>(positions: usize) -> Range<usize> {
    let tiles = positions.div_ceil(threads_per_block() as usize * LANES);
    let (rank, blocks) = (block_rank(), blocks_per_grid());
    rank * tiles / blocks..(rank + 1) * tiles / blocks
}

/// The first index of the calling thread's chunk in a tile.
#[inline(always)]
pub(super) fn first_of<const LANES: usize>(tile: usize) -> usize {
    (tile * threads_per_block() as usize + thread_rank() as usize) * LANES
}

/// The items of a chunk. There are none beyond the last position.
///
/// # Safety
/// There are so many positions, and `is_aligned` is what the iterator says.
#[inline(always)]
pub(super) unsafe fn load_chunk<const LANES: usize, P: ParallelIterator>(
    iter: &P,
    is_aligned: bool,
    first: usize,
    positions: usize,
) -> [Option<P::Item>; LANES] {
    if is_aligned && positions.saturating_sub(first) >= LANES {
        // SAFETY: the chunk is whole; its first index is a multiple of its length.
        return unsafe { iter.lanes(first) };
    }
    core::array::from_fn(|lane| {
        // SAFETY: the index is below the number of positions.
        if first + lane < positions { unsafe { iter.get(Position::at(first + lane)) } } else { None }
    })
}

/// Waits for the threads of the block, and returns whether there are all: none has ended by a panic of a closure.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub(super) fn all_are_there() -> bool {
    let ((), alive) = sync_count((), true);
    alive == threads_per_block()
}
