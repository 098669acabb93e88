//! Block-wide reductions (CUB's `BlockReduce`).
//!
//! Each warp reduces its lanes by shuffles, its first lane stores the result in a slot, and after the barrier the slots are
//! combined in order. On the CPU one thread does the same in the same order.

use super::{BlockScratch, Operator};
use crate::warp::WarpElement;

impl<T: WarpElement> BlockScratch<'_, T> {
    /// Combines the values of all threads of the block, in the order of their ranks (CUB's `BlockReduce::Reduce`, `Sum`).
    /// Thread 0 gets the result, the others get `None`.
    ///
    /// ```
    /// use gpu_std::prelude::{*, collective::*};
    ///
    /// /// The largest element of each row.
    /// #[kernel(block = 128)]
    /// pub fn row_maxima(x: &[f32], columns: usize, mut scratch: BlockScratch<f32>, maxima: &[Atomic<f32>]) {
    ///     let row = block_index().x as usize;
    ///     let mut largest = f32::NEG_INFINITY;
    ///     for column in (thread_rank() as usize..columns).step_by(threads_per_block() as usize) {
    ///         largest = largest.max(x[row * columns + column]);
    ///     }
    ///     if let Some(largest) = scratch.reduce_to_first(largest, Max) {
    ///         maxima[row].store(largest);
    ///     }
    /// }
    /// ```
    #[doc(alias = "BlockReduce", alias = "BlockReduce::Sum")]
    #[doc(alias = "BlockReduce::Reduce")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn reduce_to_first(&mut self, value: T, operator: impl Operator<T>) -> Option<T> {
        implementation::reduce_to_first(self, value, &operator)
    }

    /// Combines the values of all threads of the block, in the order of their ranks (CUB's `BlockReduce`). Every thread gets
    /// the result.
    #[doc(alias = "BlockReduce", alias = "BlockReduce::Reduce")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn reduce(&mut self, value: T, operator: impl Operator<T>) -> T {
        implementation::reduce(self, value, &operator)
    }

    /// Combines several values per thread as [`reduce_to_first`](Self::reduce_to_first) does, in a blocked arrangement: the
    /// values of a thread are adjacent.
    ///
    /// # Panics
    /// If `N` is 0, at compile time.
    #[doc(alias = "BlockReduce")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn reduce_items_to_first<const N: usize>(
        &mut self,
        items: [T; N],
        operator: impl Operator<T>,
    ) -> Option<T> {
        let value = fold(items, &operator);
        implementation::reduce_to_first(self, value, &operator)
    }

    /// Combines several values per thread as [`reduce`](Self::reduce) does, in a blocked arrangement: the values of a thread
    /// are adjacent.
    ///
    /// # Panics
    /// If `N` is 0, at compile time.
    #[doc(alias = "BlockReduce")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn reduce_items<const N: usize>(&mut self, items: [T; N], operator: impl Operator<T>) -> T {
        let value = fold(items, &operator);
        implementation::reduce(self, value, &operator)
    }
}

/// Combines the values of one thread.
#[inline(always)]
fn fold<T: Copy, const N: usize>(items: [T; N], operator: &impl Operator<T>) -> T {
    const { assert!(N > 0, "no items have no result") };
    let mut result = items[0];
    for item in &items[1..] {
        result = operator.combine(result, *item);
    }
    result
}

pub(super) use implementation::reduce_to_first;

#[cfg(target_arch = "nvptx64")]
mod implementation {
    use super::{BlockScratch, Operator, WarpElement};
    use crate::collective::lanes::{ThreadRanks, reduce_lanes};

    #[inline(always)]
    pub(in crate::collective) fn reduce_to_first<T: WarpElement>(
        scratch: &mut BlockScratch<'_, T>,
        value: T,
        operator: &impl Operator<T>,
    ) -> Option<T> {
        let (place, result, slots) = partials(scratch, value, operator);
        if place.rank != 0 {
            return None;
        }
        Some(combine(result, 1, place.warps, slots, operator))
    }

    #[inline(always)]
    pub(super) fn reduce<T: WarpElement>(
        scratch: &mut BlockScratch<'_, T>,
        value: T,
        operator: &impl Operator<T>,
    ) -> T {
        let (place, _, slots) = partials(scratch, value, operator);
        // SAFETY: the first warp wrote its slot before the barrier.
        let first = unsafe { *slots };
        combine(first, 1, place.warps, slots, operator)
    }

    /// Stores the result of each warp in its slot. Also returns that of the calling thread's warp, in lane 0.
    #[inline(always)]
    fn partials<T: WarpElement>(
        scratch: &mut BlockScratch<'_, T>,
        value: T,
        operator: &impl Operator<T>,
    ) -> (ThreadRanks, T, *const T) {
        let place = ThreadRanks::here();
        let slots = scratch.slots();
        let result = reduce_lanes(value, place.lanes, operator);
        if place.lane == 0 {
            // SAFETY: the slot of this warp, of which one lane writes; nobody reads before the barrier.
            unsafe { slots.add(place.warp as usize).write(result) };
        }
        crate::sync(());
        (place, result, slots)
    }

    /// Combines `result` with the slots `from..to`.
    #[inline(always)]
    fn combine<T: Copy>(
        mut result: T,
        mut from: u32,
        to: u32,
        slots: *const T,
        operator: &impl Operator<T>,
    ) -> T {
        // A loop of an unknown number of rounds waits for each slot that it loads.
        if size_of::<T>() <= 8 {
            if to >= 8 {
                (result, from) = (combine_first::<T, 8>(result, from, slots, operator), 8);
            } else if to >= 4 {
                (result, from) = (combine_first::<T, 4>(result, from, slots, operator), 4);
            }
        }
        for warp in from..to {
            // SAFETY: there are as many slots as warps, each of which wrote its own before the barrier.
            result = operator.combine(result, unsafe { *slots.add(warp as usize) });
        }
        result
    }

    /// Combines `result` with the first `N` slots from `from` on, all of which are loaded at once.
    #[inline(always)]
    fn combine_first<T: Copy, const N: usize>(
        mut result: T,
        from: u32,
        slots: *const T,
        operator: &impl Operator<T>,
    ) -> T {
        /// Aligned as slots are.
        #[derive(Clone, Copy)]
        #[repr(C, align(16))]
        struct Aligned<T>(T);

        // SAFETY: there are so many warps, each of which wrote its slot before the barrier.
        let Aligned(values) = unsafe { *slots.cast::<Aligned<[T; N]>>() };
        for value in &values[from as usize..] {
            result = operator.combine(result, *value);
        }
        result
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod implementation {
    use super::{BlockScratch, Operator, WarpElement};
    use crate::{collective::lanes::reduce_lanes, thread_rank, warp::WARP_SIZE};

    #[track_caller]
    pub(in crate::collective) fn reduce_to_first<T: WarpElement>(
        scratch: &mut BlockScratch<'_, T>,
        value: T,
        operator: &impl Operator<T>,
    ) -> Option<T> {
        let result = reduce(scratch, value, operator);
        (thread_rank() == 0).then_some(result)
    }

    #[track_caller]
    pub(super) fn reduce<T: WarpElement>(
        scratch: &mut BlockScratch<'_, T>,
        value: T,
        operator: &impl Operator<T>,
    ) -> T {
        scratch.meet("a reduction", value, |values| {
            let mut warps = values.chunks_mut(WARP_SIZE as usize).map(|lanes| reduce_lanes(lanes, operator));
            let Some(first) = warps.next() else { return };
            let result = warps.fold(first, |result, warp| operator.combine(result, warp));
            values.iter_mut().for_each(|value| **value = result);
        })
    }
}
