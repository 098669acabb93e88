//! Block-wide scans, also called prefix sums (CUB's `BlockScan`).
//!
//! Each warp scans its lanes by shuffles, its last lane stores the warp's total in a slot, and after the barrier each thread
//! combines the slots before its warp. On the CPU one thread does the same in the same order.

use super::{BlockScratch, Operator};
use crate::warp::WarpElement;

impl<T: WarpElement> BlockScratch<'_, T> {
    /// Combines the values of the threads up to and including the calling one, in the order of their ranks (CUB's
    /// `BlockScan::InclusiveScan`).
    ///
    /// ```
    /// use gpu_std::prelude::{*, collective::*};
    ///
    /// /// Sums from the start of each 256 elements.
    /// #[kernel(block = 256)]
    /// pub fn running_sums(x: &[i32], mut scratch: BlockScratch<i32>, mut sums: PerThread<i32>) {
    ///     let sum = scratch.inclusive_scan(x.get(global_rank()).copied().unwrap_or(0), Sum);
    ///     if let Some((_, out)) = sums.first_mut() {
    ///         *out = sum;
    ///     }
    /// }
    /// ```
    #[doc(alias = "BlockScan", alias = "InclusiveScan")]
    #[doc(alias = "InclusiveSum", alias = "prefix_sum")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn inclusive_scan(&mut self, value: T, operator: impl Operator<T>) -> T {
        self.inclusive_scan_with_total(value, operator).0
    }

    /// Computes an [`inclusive_scan`](Self::inclusive_scan) and also returns the block-wide total (CUB's `block_aggregate`).
    #[doc(alias = "BlockScan", alias = "block_aggregate")]
    #[doc(alias = "InclusiveScan")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn inclusive_scan_with_total(&mut self, value: T, operator: impl Operator<T>) -> (T, T) {
        implementation::inclusive(self, value, &operator)
    }

    /// Combines `initial` and the values of the threads before the calling one, in the order of their ranks (CUB's
    /// `BlockScan::ExclusiveScan`). Thread 0 gets `initial`, which is the same for all threads.
    ///
    /// ```
    /// use gpu_std::prelude::{*, collective::*};
    ///
    /// /// The positions of the elements above a limit, compacted per block.
    /// #[kernel(block = 256)]
    /// pub fn above(x: &[f32], limit: f32, mut scratch: BlockScratch<u32>, found: &[Atomic<u32>]) {
    ///     let i = global_rank();
    ///     let is_above = x.get(i).is_some_and(|x| *x > limit);
    ///     let place = scratch.exclusive_scan(u32::from(is_above), 0, Sum);
    ///     if is_above {
    ///         found[block_index().x as usize * 256 + place as usize].store(i as u32);
    ///     }
    /// }
    /// ```
    #[doc(alias = "BlockScan", alias = "ExclusiveScan")]
    #[doc(alias = "ExclusiveSum", alias = "prefix_sum")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn exclusive_scan(&mut self, value: T, initial: T, operator: impl Operator<T>) -> T {
        self.exclusive_scan_with_total(value, initial, operator).0
    }

    /// Computes an [`exclusive_scan`](Self::exclusive_scan) and also returns the block-wide total (CUB's `block_aggregate`),
    /// without `initial`.
    #[doc(alias = "BlockScan", alias = "block_aggregate")]
    #[doc(alias = "ExclusiveScan")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn exclusive_scan_with_total(&mut self, value: T, initial: T, operator: impl Operator<T>) -> (T, T) {
        let (before, total) = implementation::exclusive(self, value, &operator);
        (before.map_or(initial, |before| operator.combine(initial, before)), total)
    }

    /// Scans several values per thread as [`inclusive_scan`](Self::inclusive_scan) does, in a blocked arrangement: the values
    /// of a thread are adjacent.
    ///
    /// # Panics
    /// If `N` is 0, at compile time.
    #[doc(alias = "BlockScan", alias = "InclusiveScan")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn inclusive_scan_items<const N: usize>(
        &mut self,
        items: [T; N],
        operator: impl Operator<T>,
    ) -> [T; N] {
        self.inclusive_scan_items_with_total(items, operator).0
    }

    /// Computes an [`inclusive_scan_items`](Self::inclusive_scan_items) and also returns the block-wide total (CUB's
    /// `block_aggregate`).
    ///
    /// # Panics
    /// If `N` is 0, at compile time.
    #[doc(alias = "BlockScan", alias = "block_aggregate")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn inclusive_scan_items_with_total<const N: usize>(
        &mut self,
        items: [T; N],
        operator: impl Operator<T>,
    ) -> ([T; N], T) {
        let mut own = running(items, &operator);
        if N == 1 {
            let (result, total) = implementation::inclusive(self, own[0], &operator);
            return ([result; N], total);
        }
        let (before, total) = implementation::exclusive(self, own[N - 1], &operator);
        if let Some(before) = before {
            for item in &mut own {
                *item = operator.combine(before, *item);
            }
        }
        (own, total)
    }

    /// Scans several values per thread as [`exclusive_scan`](Self::exclusive_scan) does, in a blocked arrangement: the values
    /// of a thread are adjacent.
    ///
    /// # Panics
    /// If `N` is 0, at compile time.
    #[doc(alias = "BlockScan", alias = "ExclusiveScan")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn exclusive_scan_items<const N: usize>(
        &mut self,
        items: [T; N],
        initial: T,
        operator: impl Operator<T>,
    ) -> [T; N] {
        self.exclusive_scan_items_with_total(items, initial, operator).0
    }

    /// Computes an [`exclusive_scan_items`](Self::exclusive_scan_items) and also returns the block-wide total (CUB's
    /// `block_aggregate`), without `initial`.
    ///
    /// # Panics
    /// If `N` is 0, at compile time.
    #[doc(alias = "BlockScan", alias = "block_aggregate")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn exclusive_scan_items_with_total<const N: usize>(
        &mut self,
        items: [T; N],
        initial: T,
        operator: impl Operator<T>,
    ) -> ([T; N], T) {
        let own = running(items, &operator);
        let (before, total) = implementation::exclusive(self, own[N - 1], &operator);
        let before = before.map_or(initial, |before| operator.combine(initial, before));
        let mut result = [before; N];
        for k in 1..N {
            result[k] = operator.combine(before, own[k - 1]);
        }
        (result, total)
    }
}

/// Replaces each value of one thread by the combination of those up to and including it.
#[inline(always)]
fn running<T: Copy, const N: usize>(mut items: [T; N], operator: &impl Operator<T>) -> [T; N] {
    const { assert!(N > 0, "no items have no total") };
    for k in 1..N {
        items[k] = operator.combine(items[k - 1], items[k]);
    }
    items
}

#[cfg(target_arch = "nvptx64")]
pub(super) use implementation::exclusive_in;

#[cfg(target_arch = "nvptx64")]
mod implementation {
    use super::{BlockScratch, Operator, WarpElement};
    use crate::{
        collective::lanes::{ThreadRanks, scan_lanes},
        warp::LaneGroup,
    };

    /// Returns the inclusive scan of the calling thread, and the total.
    #[inline(always)]
    pub(super) fn inclusive<T: WarpElement>(
        scratch: &mut BlockScratch<'_, T>,
        value: T,
        operator: &impl Operator<T>,
    ) -> (T, T) {
        let place = ThreadRanks::here();
        let in_warp = scan_lanes(value, place.lanes, operator);
        // SAFETY: as `slots` says.
        let (before_warp, total) = unsafe { warps_before(scratch.slots(), in_warp, place, operator) };
        let result = if place.warp == 0 { in_warp } else { operator.combine(before_warp, in_warp) };
        (result, total)
    }

    /// Returns the exclusive scan of the calling thread, `None` in the first, and the total.
    #[inline(always)]
    pub(super) fn exclusive<T: WarpElement>(
        scratch: &mut BlockScratch<'_, T>,
        value: T,
        operator: &impl Operator<T>,
    ) -> (Option<T>, T) {
        // SAFETY: as `slots` says.
        unsafe { exclusive_in(scratch.slots(), value, operator) }
    }

    /// Returns the exclusive scan of the calling thread as [`exclusive`] does, with these slots.
    ///
    /// # Safety
    /// There are as many slots as warps, used by the threads of the block only. All threads have reached a barrier since the
    /// previous use of the slots, and do so before the next.
    #[inline(always)]
    pub(in crate::collective) unsafe fn exclusive_in<T: WarpElement>(
        slots: *mut T,
        value: T,
        operator: &impl Operator<T>,
    ) -> (Option<T>, T) {
        let place = ThreadRanks::here();
        let in_warp = scan_lanes(value, place.lanes, operator);
        // SAFETY: as the caller promises.
        let (before_warp, total) = unsafe { warps_before(slots, in_warp, place, operator) };
        if let Some(before) = operator.undo(in_warp, value) {
            // One instruction instead of a shuffle and a selection.
            let result = if place.warp == 0 { before } else { operator.combine(before_warp, before) };
            return ((place.rank != 0).then_some(result), total);
        }
        let result = match (place.warp != 0, place.lanes.try_shuffle_up(in_warp, 1)) {
            (true, Some(before)) => Some(operator.combine(before_warp, before)),
            (true, None) => Some(before_warp),
            (false, before) => before,
        };
        (result, total)
    }

    /// Returns the combination of the warps before the calling thread's, arbitrary in the first, and the total. `in_warp` is
    /// the inclusive scan of the calling lane.
    ///
    /// # Safety
    /// As [`exclusive_in`].
    #[inline(always)]
    unsafe fn warps_before<T: WarpElement>(
        slots: *mut T,
        in_warp: T,
        place: ThreadRanks,
        operator: &impl Operator<T>,
    ) -> (T, T) {
        if place.lane + 1 == place.lanes.size() {
            // SAFETY: the slot of this warp, of which one lane writes; nobody reads before the barrier.
            unsafe { slots.add(place.warp as usize).write(in_warp) };
        }
        crate::sync(());
        // SAFETY: there are as many slots as warps, each of which wrote its own before the barrier; so in the loop.
        let mut total = unsafe { *slots };
        let mut before = total;
        for warp in 1..place.warps {
            if warp == place.warp {
                before = total;
            }
            // SAFETY: as above.
            total = operator.combine(total, unsafe { *slots.add(warp as usize) });
        }
        (before, total)
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod implementation {
    use super::{BlockScratch, Operator, WarpElement};
    use crate::{collective::lanes::scan_lanes, thread_rank, warp::WARP_SIZE};

    #[track_caller]
    pub(super) fn inclusive<T: WarpElement>(
        scratch: &mut BlockScratch<'_, T>,
        value: T,
        operator: &impl Operator<T>,
    ) -> (T, T) {
        let scanned = scan(scratch, value, operator);
        (scanned.inclusive, scanned.total)
    }

    #[track_caller]
    pub(super) fn exclusive<T: WarpElement>(
        scratch: &mut BlockScratch<'_, T>,
        value: T,
        operator: &impl Operator<T>,
    ) -> (Option<T>, T) {
        let scanned = scan(scratch, value, operator);
        ((thread_rank() != 0).then_some(scanned.exclusive), scanned.total)
    }

    /// The value of one thread, and its results.
    #[derive(Clone, Copy)]
    struct Scanned<T> {
        inclusive: T,
        exclusive: T,
        total: T,
    }

    #[track_caller]
    fn scan<T: WarpElement>(
        scratch: &mut BlockScratch<'_, T>,
        value: T,
        operator: &impl Operator<T>,
    ) -> Scanned<T> {
        let brought = Scanned { inclusive: value, exclusive: value, total: value };
        scratch.meet("a scan", brought, |values| {
            let mut before_warp: Option<T> = None;
            for lanes in values.chunks_mut(WARP_SIZE as usize) {
                let mut in_warp: std::vec::Vec<&mut T> =
                    lanes.iter_mut().map(|lane| &mut lane.inclusive).collect();
                scan_lanes(&mut in_warp, operator);
                let after = |before: Option<T>, value| match before {
                    Some(before) => operator.combine(before, value),
                    None => value,
                };
                let mut before_lane = None;
                for lane in lanes {
                    let in_warp = lane.inclusive;
                    lane.inclusive = after(before_warp, in_warp);
                    // The result of the first thread is not used.
                    lane.exclusive = match before_lane {
                        Some(before_lane) => after(before_warp, before_lane),
                        None => before_warp.unwrap_or(in_warp),
                    };
                    before_lane = Some(in_warp);
                }
                before_warp = before_lane.map(|in_warp| after(before_warp, in_warp));
            }
            if let Some(total) = before_warp {
                values.iter_mut().for_each(|value| value.total = total);
            }
        })
    }
}
