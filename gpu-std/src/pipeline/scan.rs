//! Scans of a whole pipeline (CUB's `DeviceScan`). One kernel combines the items of each block, and its last block scans the results; the other
//! computes the items again, and scans them from there on. Which items are combined with which depends on their number only.

use core::marker::PhantomData;

use super::{
    End, EndsIn, Finish, IndexedParallelIterator, Refusal, Scan, Size,
    collect::{is_aligned, refuse, size},
    reduce::{Then, Whole, by, has_part_for_each_block, own_parts},
    tiles::{first_of, load_chunk, own_tiles},
};
use crate::{
    Atomic, BlockScratch, DeviceCopy, UnsafeSlice, block_rank,
    collective::{Operator, Room, from_room, is_last_block, to_room},
    elementwise::store,
    warp::WarpElement,
};

/// Whether a scan includes the item itself.
pub trait Kind: sealed::Kind {}

mod sealed {
    #[allow(unreachable_pub)]
    pub trait Kind {
        const IS_INCLUSIVE: bool;
    }
}

/// With the item itself.
#[derive(Clone, Copy, Debug)]
pub struct Inclusive;
/// Without the item itself.
#[derive(Clone, Copy, Debug)]
pub struct Exclusive;

impl Kind for Inclusive {}
impl sealed::Kind for Inclusive {
    const IS_INCLUSIVE: bool = true;
}
impl Kind for Exclusive {}
impl sealed::Kind for Exclusive {
    const IS_INCLUSIVE: bool = false;
}

/// A scan of all items of a pipeline: what a function that returns [`Scan`] ends in.
pub struct Scanned<P: IndexedParallelIterator, O, K, F = Whole> {
    iter: P,
    identity: P::Item,
    operator: O,
    finish: F,
    kind: PhantomData<K>,
}

impl<P: IndexedParallelIterator, O, K> Scanned<P, O, K> {
    #[inline(always)]
    pub(super) fn new(iter: P, identity: P::Item, operator: O) -> Self {
        Self { iter, identity, operator, finish: Whole, kind: PhantomData }
    }
}

impl<P: IndexedParallelIterator, O, K, F: Finish<P::Item>> Scanned<P, O, K, F> {
    /// Computes `f` of each result.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn growth(rates: In<f32>) -> Scan<f32> {
    ///     rates.inclusive_scan(0.0, |a, b| a + b).map(|sum| sum.exp())
    /// }
    /// ```
    #[inline(always)]
    pub fn map<U, G: Fn(F::Output) -> U>(self, f: G) -> Scanned<P, O, K, Then<F, G>> {
        let Self { iter, identity, operator, finish, kind } = self;
        Scanned { iter, identity, operator, finish: Then::new(finish, f), kind }
    }

    /// Ends the pipeline: the results become an array. It changes nothing, and may be left out.
    #[inline(always)]
    pub fn collect(self) -> Self {
        self
    }
}

impl<P: IndexedParallelIterator + core::fmt::Debug, O, K, F> core::fmt::Debug for Scanned<P, O, K, F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Scanned").field("iter", &self.iter).finish_non_exhaustive()
    }
}

/// What the kernels of a [`Scan`] take besides its inputs.
#[doc(hidden)]
#[allow(missing_docs)]
#[derive(Debug)]
pub enum ScanMemory<'k, T> {
    Combine {
        scratch: BlockScratch<'k, Room>,
        positions: usize,
        /// One for each block.
        parts: UnsafeSlice<'k, Room>,
        /// 0, before and after.
        arrived: &'k [Atomic<u32>],
    },
    Write {
        scratch: BlockScratch<'k, Room>,
        parts: &'k [Room],
        output: UnsafeSlice<'k, T>,
    },
}

impl<T: DeviceCopy> End for Scan<T> {
    type Memory<'k> = ScanMemory<'k, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Args<'a, R: crate::host::Runtime> = crate::host::ScanArgs<'a, R, T>;
}

impl<P, O, K, F> EndsIn<Scan<F::Output>> for Scanned<P, O, K, F>
where
    P: IndexedParallelIterator,
    P::Item: WarpElement,
    O: Operator<P::Item>,
    K: Kind,
    F: Finish<P::Item, Output: DeviceCopy>,
{
    fn size(&self) -> Result<Size, Refusal> {
        size(&self.iter)
    }

    #[inline(always)]
    unsafe fn run<const LANES: usize>(self, memory: ScanMemory<'_, F::Output>) {
        match memory {
            // SAFETY: as the caller promises.
            ScanMemory::Combine { scratch, positions, parts, arrived } => unsafe {
                self.combine::<LANES>(scratch, positions, parts, arrived);
            },
            // SAFETY: as the caller promises.
            ScanMemory::Write { scratch, parts, output } => unsafe {
                self.write::<LANES>(scratch, parts, output);
            },
        }
    }
}

impl<P, O, K, F> Scanned<P, O, K, F>
where
    P: IndexedParallelIterator,
    P::Item: WarpElement,
    O: Operator<P::Item>,
    K: Kind,
    F: Finish<P::Item, Output: DeviceCopy>,
{
    /// The items of a chunk, and the identity beyond the last.
    ///
    /// # Safety
    /// As of [`load_chunk`].
    #[inline(always)]
    unsafe fn chunk<const LANES: usize>(
        &self,
        is_aligned: bool,
        first: usize,
        len: usize,
    ) -> [P::Item; LANES] {
        // SAFETY: as the caller promises.
        unsafe { load_chunk::<LANES, P>(&self.iter, is_aligned, first, len) }
            .map(|item| item.unwrap_or(self.identity))
    }

    /// Combines the items of each block, and those of the blocks before it.
    ///
    /// # Safety
    /// As of [`EndsIn::run`].
    #[inline(always)]
    unsafe fn combine<const LANES: usize>(
        &self,
        mut scratch: BlockScratch<'_, Room>,
        positions: usize,
        parts: UnsafeSlice<'_, Room>,
        arrived: &[Atomic<u32>],
    ) {
        let Self { iter, identity, operator, .. } = self;
        let (Some(arrived), true) = (arrived.first(), has_part_for_each_block(parts.len())) else { return };
        if iter.positions() < positions {
            refuse(iter.positions(), positions)
        }
        let is_aligned = iter.is_aligned::<LANES>();
        let mut part = *identity;
        for tile in own_tiles::<LANES>(positions) {
            // SAFETY: there are so many positions.
            let items = unsafe { self.chunk::<LANES>(is_aligned, first_of::<LANES>(tile), positions) };
            let own = items.into_iter().fold(*identity, |a, b| operator.combine(a, b));
            if let Some(of_tile) = scratch.for_one().reduce_to_first(own, by(operator)) {
                part = operator.combine(part, of_tile);
            }
        }
        // SAFETY: each block writes its own part, and the last one reads those of others after it has acquired what they released.
        let store =
            (crate::thread_rank() == 0).then_some(move || unsafe { parts.set(block_rank(), to_room(part)) });
        if !is_last_block(arrived, store) {
            return;
        }
        // SAFETY: as above; all have been written, and each thread has its own from here on.
        let part = |block| unsafe { from_room::<P::Item>(&parts.get(block)) };
        let own = own_parts(parts.len()).fold(*identity, |sum, block| operator.combine(sum, part(block)));
        let mut before = scratch.for_one().exclusive_scan(own, *identity, by(operator));
        for block in own_parts(parts.len()) {
            let of_block = part(block);
            // SAFETY: as above.
            unsafe { parts.set(block, to_room(before)) };
            before = operator.combine(before, of_block);
        }
    }

    /// Scans the items of each block.
    ///
    /// # Safety
    /// As of [`EndsIn::run`].
    #[inline(always)]
    unsafe fn write<const LANES: usize>(
        &self,
        mut scratch: BlockScratch<'_, Room>,
        parts: &[Room],
        output: UnsafeSlice<'_, F::Output>,
    ) {
        let Self { iter, operator, finish, .. } = self;
        let len = output.len();
        let Some(before) = parts.get(block_rank()) else { return };
        if iter.positions() < len {
            refuse(iter.positions(), len)
        }
        let output = output.as_mut_ptr();
        let (loads, stores) = (iter.is_aligned::<LANES>(), is_aligned::<F::Output, LANES>(output));
        let mut before = from_room::<P::Item>(before);
        for tile in own_tiles::<LANES>(len) {
            let first = first_of::<LANES>(tile);
            // SAFETY: there are so many positions.
            let items = unsafe { self.chunk::<LANES>(loads, first, len) };
            let (results, total) = if K::IS_INCLUSIVE {
                let (results, total) = scratch.for_one().inclusive_scan_items_with_total(items, by(operator));
                (results.map(|result| operator.combine(before, result)), total)
            } else {
                scratch.for_one().exclusive_scan_items_with_total(items, before, by(operator))
            };
            before = operator.combine(before, total);
            if stores && len.saturating_sub(first) >= LANES {
                // SAFETY: the chunk is inside, aligned, and this thread's: tiles of blocks and chunks of threads differ, and depend on the length of
                // the output only.
                unsafe { store(output.add(first), results.map(|result| finish.finish(result))) };
            } else {
                for (lane, result) in results.into_iter().enumerate() {
                    if first + lane < len {
                        // SAFETY: as above, of an index in the chunk.
                        unsafe { output.add(first + lane).write(finish.finish(result)) };
                    }
                }
            }
        }
    }
}
