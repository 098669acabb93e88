//! Selections: elements that are moved together, in their order.

use gpu_std::{
    SharedElement,
    collective::Sum,
    prelude::{
        memory::{SharedCells, UnsafeShared, UnsafeSlice},
        warp::{LaneGroup, lane_index, warp, warp_index},
        *,
    },
};

use crate::{
    look_back::LookBack,
    tile::{WarpRows, as_one, prefetch},
};

/// Which elements are selected: by flags, by a predicate, or as the first of equal ones.
pub trait Choice<T>: DeviceCopy {
    /// Whether elements are compared with those before them.
    const COMPARES: bool = false;
    /// Whether flags are read.
    const HAS_FLAGS: bool = false;

    /// Whether an element is selected: with its flag if there is one, and the element before it if that is asked for and there is one.
    fn chooses(&self, x: T, flag: bool, before: Option<T>) -> bool;

    /// The element that another lane of the warp has, if elements are compared.
    #[doc(hidden)]
    #[inline(always)]
    fn in_lane(&self, x: T, _: u32) -> T {
        x
    }
}

/// Elements whose flag is not 0.
#[derive(Clone, Copy, Debug, DeviceCopy)]
#[repr(C)]
pub struct Flagged;

impl<T> Choice<T> for Flagged {
    const HAS_FLAGS: bool = true;

    #[inline(always)]
    fn chooses(&self, _: T, flag: bool, _: Option<T>) -> bool {
        flag
    }
}

/// The first of elements that follow each other and are equal.
#[derive(Clone, Copy, Debug, DeviceCopy)]
#[repr(C)]
pub struct Distinct;

impl<T: crate::Element + PartialEq> Choice<T> for Distinct {
    const COMPARES: bool = true;

    #[inline(always)]
    fn chooses(&self, x: T, _: bool, before: Option<T>) -> bool {
        before.is_none_or(|before| before != x)
    }

    #[inline(always)]
    fn in_lane(&self, x: T, lane: u32) -> T {
        warp().shuffle(x, lane)
    }
}

/// Elements that satisfy a predicate.
#[derive(Clone, Copy, Debug, DeviceCopy)]
#[repr(C)]
pub struct Where<F>(pub F);

impl<T, F: DeviceCopy + gpu_std::DeviceFn<(T,), Output = bool>> Choice<T> for Where<F> {
    #[inline(always)]
    fn chooses(&self, x: T, _: bool, _: Option<T>) -> bool {
        self.0.call((x,))
    }
}

/// Moves the elements that are chosen to `chosen`, the others to `rest`, each in their order, as far as there is room, and stores how many are chosen,
/// and how many are not. One block of `THREADS` for each tile of `TILE` elements, in which each thread has `R` vectors of `V`, at most eight rows.
/// Each block brings the tile that is `ahead` after its own to the L2 cache, for a block that runs later, unless `ahead` is 0.
///
/// # Safety
/// `state` has [`state_len`](crate::state_len) words for values of 8 bytes, which are 0.
#[kernel(block = THREADS as u32, min_blocks_per_sm = BLOCKS)]
pub unsafe fn select<
    T: SharedElement,
    C: Choice<T>,
    const V: usize,
    const R: usize,
    const THREADS: usize,
    const TILE: usize,
    const BLOCKS: u32,
>(
    x: &[T],
    flags: &[u8],
    choice: C,
    state: &[Atomic<u64>],
    count: &[Atomic<u64>],
    chosen: UnsafeSlice<T>,
    rest: UnsafeSlice<T>,
    ahead: usize,
    notes: SharedCells<u64, 2>,
    warps: SharedCells<u32, 32>,
    moved: UnsafeShared<T, TILE>,
) {
    const { assert!(TILE == THREADS * R * V && R <= 8 && V <= 4) };
    let tiles = x.len().div_ceil(TILE);
    let look_back = LookBack::take(state, tiles, &notes);
    let _poison = look_back.poison_on_panic();
    let (tile, thread) = (look_back.tile, thread_rank() as usize);
    let (all, lane, of_warp) = (warp(), lane_index() as usize, warp_index() as usize % 32);
    let there = x.len().saturating_sub(tile.saturating_mul(TILE)).min(TILE);
    let place = WarpRows::<V, R>::new(tile, TILE, x.len());
    let rows = place.load(x, T::zeroed());
    let of_flags = if C::HAS_FLAGS { place.load_flags(flags) } else { 0 };
    // A bit for each element. Rows of a warp have up to 128, so that one word counts those of four.
    let mut are_chosen = 0_u32;
    let mut counts = [0_u32; 2];
    let mut of_last_lane = None;
    if C::COMPARES && lane == 0 {
        // In the first place nothing is before.
        of_last_lane = x.get(place.first.wrapping_sub(1)).copied();
    }
    unroll::<R>(|row| {
        let mut before = None;
        if C::COMPARES {
            let from_lane = choice.in_lane(rows[row][V - 1], (lane as u32 + 31) % 32);
            before = if lane == 0 { of_last_lane } else { Some(from_lane) };
            of_last_lane = Some(from_lane);
        }
        for lane in 0..V {
            let element = rows[row][lane];
            let is_chosen = choice.chooses(element, of_flags >> (row * V + lane) & 1 != 0, before);
            are_chosen |= u32::from(is_chosen) << (row * V + lane);
            before = Some(element);
        }
    });
    let are_there = place.are_there(x.len());
    are_chosen = as_one(are_chosen & are_there);
    for row in 0..R {
        let of_row = are_chosen >> (row * V) & ((1 << V) - 1);
        counts[row / 4] += of_row.count_ones() << (8 * (row % 4));
    }
    let mut up_to = counts;
    if R <= 4 {
        up_to[0] = all.inclusive_scan(counts[0], |a, b| a + b);
    } else {
        up_to = all.inclusive_scan(counts, |a, b| [a[0] + b[0], a[1] + b[1]]);
    }
    let in_warp = all.shuffle(up_to, 31);
    let of_row = |counts: [u32; 2], row: usize| counts[row / 4] >> (8 * (row % 4)) & 0xff;
    let mut total_of_warp = 0;
    for row in 0..R {
        total_of_warp += of_row(in_warp, row);
    }
    if lane == 0 {
        warps[of_warp].store(total_of_warp);
    }
    sync(());
    let (mut before_row, mut total) = (0, 0);
    for warp in 0..THREADS / 32 {
        before_row = if warp == of_warp { total } else { before_row };
        total += warps[warp].load();
    }
    let total = total as usize;
    if thread == 0 {
        look_back.publish_aggregate::<u64>(total as u64);
    }
    let has_rest = !rest.is_empty();
    let in_tile = place.first.wrapping_sub(tile.wrapping_mul(TILE));
    for row in 0..R {
        let first = (before_row + of_row(up_to, row) - of_row(counts, row)) as usize;
        let mut to = first;
        for lane in 0..V {
            let is_chosen = are_chosen >> (row * V + lane) & 1 != 0;
            if is_chosen {
                // SAFETY: each element of the tile has another place below their number, and is read behind the barrier.
                unsafe { moved.set(to.min(TILE - 1), rows[row][lane]) };
            }
            to += usize::from(is_chosen);
        }
        if has_rest {
            let mut to = (total + in_tile + row * 32 * V).wrapping_sub(first);
            for lane in 0..V {
                let is_other = are_chosen >> (row * V + lane) & 1 == 0;
                if is_other && are_there >> (row * V + lane) & 1 != 0 {
                    // SAFETY: as above.
                    unsafe { moved.set(to.min(TILE - 1), rows[row][lane]) };
                }
                to += usize::from(is_other);
            }
        }
        before_row += of_row(in_warp, row);
    }
    // Here, where the tile has come and the prefix has not.
    if ahead > 0 {
        let first = tile.saturating_add(ahead).saturating_mul(TILE);
        prefetch::<T, THREADS, V, R>(x, first);
        if C::HAS_FLAGS {
            prefetch::<u8, THREADS, V, R>(flags, first);
        }
    }
    if of_warp == 0 {
        let prefix = look_back.prefix::<u64, Sum>(total as u64, 0);
        if lane == 0 {
            notes[1].store(prefix.unwrap_or(u64::MAX));
        }
    }
    sync(());
    let prefix = notes[1].load();
    if prefix == u64::MAX {
        return;
    }
    let prefix = prefix as usize;
    let room = chosen.len().saturating_sub(prefix).min(total);
    for k in 0..TILE / THREADS {
        let i = k * THREADS + thread;
        if i < room {
            // SAFETY: the element was moved before the barrier; as the launch promises, no other has this position.
            unsafe { chosen.set(prefix + i, moved.get(i)) };
        }
    }
    if has_rest {
        let before = (tile * TILE).wrapping_sub(prefix);
        let mut i = total + thread;
        while i < there {
            let at = before.wrapping_add(i - total);
            if at < rest.len() {
                // SAFETY: as above.
                unsafe { rest.set(at, moved.get(i)) };
            }
            i += THREADS;
        }
    }
    if thread == 0 && tile + 1 == tiles {
        let (chosen, all) = ((prefix + total) as u64, x.len() as u64);
        for (count, number) in count.iter().zip([chosen, all - chosen]) {
            count.store(number);
        }
    }
}
