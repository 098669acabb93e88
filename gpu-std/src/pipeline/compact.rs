//! Pipelines that leave items out (CUB's `DeviceSelect`). One kernel counts the items of each block, and its last block makes offsets of the
//! numbers; the other computes the items again and writes them. No item is written if a closure panicked in the first.

use super::{
    Compact, End, EndsIn, ParallelIterator, Refusal, Size,
    collect::{refuse, size},
    reduce::{has_part_for_each_block, own_parts},
    tiles::{all_are_there, first_of, load_chunk, own_tiles},
};
use crate::{
    Atomic, BlockScratch, DeviceCopy, UnsafeSlice,
    atomic::{Device, Release, fence},
    block_rank, blocks_per_grid,
    collective::{Room, Sum, is_last_block},
    sync, thread_rank,
};

/// What the kernels of a [`Compact`] take besides its inputs.
#[doc(hidden)]
#[allow(missing_docs)]
#[derive(Debug)]
pub enum CompactMemory<'k, T> {
    Count {
        scratch: BlockScratch<'k, Room>,
        positions: usize,
        /// One for each block, and the total.
        offsets: UnsafeSlice<'k, usize>,
        /// How many blocks have arrived, 0 before; whether the offsets are there, 0 before.
        state: &'k [Atomic<u32>],
        /// One: the number of items.
        len: UnsafeSlice<'k, usize>,
    },
    Write {
        scratch: BlockScratch<'k, Room>,
        positions: usize,
        offsets: &'k [usize],
        state: &'k [Atomic<u32>],
        output: UnsafeSlice<'k, T>,
    },
}

impl<T: DeviceCopy> End for Compact<T> {
    type Memory<'k> = CompactMemory<'k, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Args<'a, R: crate::host::Runtime> = crate::host::CompactArgs<'a, R, T>;
}

impl<T: DeviceCopy, P: ParallelIterator<Item = T>> EndsIn<Compact<T>> for P {
    fn size(&self) -> Result<Size, Refusal> {
        size(self)
    }

    #[inline(always)]
    unsafe fn run<const LANES: usize>(self, memory: CompactMemory<'_, T>) {
        match memory {
            CompactMemory::Count { scratch, positions, offsets, state, len } => {
                // SAFETY: as the caller promises.
                unsafe { count::<LANES, P>(&self, scratch, positions, offsets, state, len) }
            }
            CompactMemory::Write { scratch, positions, offsets, state, output } => {
                // SAFETY: as the caller promises.
                unsafe { write::<LANES, P>(&self, scratch, positions, offsets, state, output) }
            }
        }
    }
}

/// Counts the items of each block, and makes offsets of the numbers.
///
/// # Safety
/// As of [`EndsIn::run`].
#[inline(always)]
unsafe fn count<const LANES: usize, P: ParallelIterator>(
    iter: &P,
    mut scratch: BlockScratch<'_, Room>,
    positions: usize,
    offsets: UnsafeSlice<'_, usize>,
    state: &[Atomic<u32>],
    len: UnsafeSlice<'_, usize>,
) {
    let blocks = blocks_per_grid();
    let ([arrived, are_there, ..], true) =
        (state, has_part_for_each_block(offsets.len()) && blocks < offsets.len() && !len.is_empty())
    else {
        return;
    };
    if iter.positions() < positions {
        refuse(iter.positions(), positions)
    }
    let is_aligned = iter.is_aligned::<LANES>();
    let mut count = 0;
    for tile in own_tiles::<LANES>(positions) {
        // SAFETY: there are so many positions.
        let items = unsafe { load_chunk::<LANES, P>(iter, is_aligned, first_of::<LANES>(tile), positions) };
        count += items.iter().flatten().count();
    }
    // A block with a panic does not arrive, so that there are no offsets.
    if !all_are_there() {
        return;
    }
    let count = scratch.for_one().reduce_to_first(count, Sum);
    // SAFETY: each block writes its own number, and the last one reads those of others after it has acquired what they released.
    let store = count.map(|count| move || unsafe { offsets.set(block_rank(), count) });
    if !is_last_block(arrived, store) {
        return;
    }
    // SAFETY: as above; all have been written, and each thread has its own from here on.
    let own = own_parts(offsets.len()).map(|block| unsafe { offsets.get(block) }).sum();
    let (mut offset, total) = scratch.for_one().exclusive_scan_with_total(own, 0, Sum);
    for block in own_parts(offsets.len()) {
        // SAFETY: as above.
        unsafe {
            let count = offsets.get(block);
            offsets.set(block, offset);
            offset += count;
        }
    }
    sync(());
    if thread_rank() == 0 {
        // SAFETY: one thread comes here.
        unsafe {
            offsets.set(blocks, total);
            len.set(0, total);
        }
        // The next launch sees all of this anyway.
        fence(Device, Release);
        are_there.store(1);
    }
}

/// Writes the items of each block from its offset on.
///
/// # Safety
/// As of [`EndsIn::run`].
#[inline(always)]
unsafe fn write<const LANES: usize, P: ParallelIterator>(
    iter: &P,
    mut scratch: BlockScratch<'_, Room>,
    positions: usize,
    offsets: &[usize],
    state: &[Atomic<u32>],
    output: UnsafeSlice<'_, P::Item>,
) where
    P::Item: DeviceCopy,
{
    let [_, are_there, ..] = state else { return };
    let (Some(&start), Some(&end)) = (offsets.get(block_rank()), offsets.get(block_rank() + 1)) else {
        return;
    };
    if are_there.load() == 0 {
        return;
    }
    if iter.positions() < positions {
        refuse(iter.positions(), positions)
    }
    // The elements from `start` to `end` are this block's: offsets do not decrease. If a filter is not pure, items are left out rather than
    // written beyond.
    let end = end.min(output.len());
    let is_aligned = iter.is_aligned::<LANES>();
    let mut start = start;
    for tile in own_tiles::<LANES>(positions) {
        // SAFETY: there are so many positions.
        let items = unsafe { load_chunk::<LANES, P>(iter, is_aligned, first_of::<LANES>(tile), positions) };
        // Places are computed from what all threads have.
        if !all_are_there() {
            return;
        }
        let count = items.iter().flatten().count() as u32;
        let (before, total) = scratch.for_one().exclusive_scan_with_total(count, 0, Sum);
        for (place, item) in (start + before as usize..).zip(items.into_iter().flatten()) {
            if place < end {
                // SAFETY: the place is inside, the block's, and this thread's, which has as many from here on as it has items.
                unsafe { output.set(place, item) };
            }
        }
        start += total as usize;
    }
}
