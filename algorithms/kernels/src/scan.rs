//! Scans.

use gpu_std::prelude::{
    memory::{SharedCells, UnsafeShared, UnsafeSlice},
    warp::{LaneGroup, lane_index, warp, warp_index},
    *,
};

use crate::{
    Element, Identity,
    element::Rows,
    look_back::{LookBack, nothing},
    tile::{WarpRows, prefetch},
};

/// Combines `initial` and the elements up to each, itself included if `inclusive` is not 0. One block of `THREADS` for each tile, in which each thread
/// has `R` vectors of `V` elements; `state` has [`state_len`](crate::state_len) words, which are 0.
///
/// Each block brings the tile that is `ahead` after its own to the L2 cache, for a block that runs later, unless `ahead` is 0.
///
/// Which elements are combined first depends on their number alone, so that results have the same bits on each launch and each device.
#[kernel(block = THREADS as u32, min_blocks_per_sm = BLOCKS)]
pub fn scan<
    T: Element,
    O: Identity<T>,
    const V: usize,
    const R: usize,
    const THREADS: usize,
    const BLOCKS: u32,
>(
    x: &[T],
    initial: T,
    inclusive: u32,
    state: &[Atomic<u64>],
    y: UnsafeSlice<T>,
    ahead: usize,
    notes: SharedCells<u64, 2>,
    warps: UnsafeShared<T, 32>,
) {
    let operator = O::default();
    let combine = |a: T, b: T| operator.combine(a, b);
    let (all, lane, of_warp) = (warp(), lane_index() as usize, warp_index() as usize % 32);
    let elements = THREADS * R * V;
    let tiles = x.len().div_ceil(elements);
    let look_back = LookBack::take(state, tiles, &notes);
    let _poison = look_back.poison_on_panic();
    let place = WarpRows::<V, R>::new(look_back.tile, elements, x.len());
    let mut rows = place.load(x, O::IDENTITY);
    let mut sums = [O::IDENTITY; R];
    for row in 0..R {
        sums[row] = rows[row][0];
        for lane in 1..V {
            sums[row] = combine(sums[row], rows[row][lane]);
        }
    }
    let sums = all.inclusive_scan(Rows(sums), |a, b| a.combine(b, operator));
    let totals = all.shuffle(sums, 31).0;
    let mut before = all.try_shuffle_up(sums, 1).map_or([O::IDENTITY; R], |before| before.0);
    let mut total = totals[0];
    for row in 1..R {
        before[row] = combine(total, before[row]);
        total = combine(total, totals[row]);
    }
    if lane == 0 {
        // SAFETY: only this thread writes it, and others read it behind the barrier.
        unsafe { warps.set(of_warp, total) };
    }
    sync(());
    let (mut aggregate, mut before_warp) = (O::IDENTITY, O::IDENTITY);
    if of_warp == 0 {
        // SAFETY: written before the barrier.
        let total = if lane < THREADS / 32 { unsafe { warps.get(lane) } } else { O::IDENTITY };
        let up_to = all.inclusive_scan(total, combine);
        aggregate = all.shuffle(up_to, 31);
        if lane == 0 {
            look_back.publish_aggregate(aggregate);
        }
        before_warp = all.try_shuffle_up(up_to, 1).unwrap_or(O::IDENTITY);
    }
    // In place, so that there is nothing else to keep until the prefix is known.
    for row in 0..R {
        let mut running = before[row];
        for lane in 0..V {
            let including = combine(running, rows[row][lane]);
            rows[row][lane] = if inclusive != 0 { including } else { running };
            running = including;
        }
    }
    // Here, where the tile has come and the prefix has not.
    if ahead > 0 {
        prefetch::<T, THREADS, V, R>(x, look_back.tile.saturating_add(ahead).saturating_mul(elements));
    }
    if of_warp == 0 {
        let prefix = look_back.prefix::<T, O>(aggregate, initial);
        // SAFETY: each lane read its own, and others read it behind the barrier.
        unsafe { warps.set(lane, combine(prefix.unwrap_or(nothing()), before_warp)) };
        if lane == 0 {
            notes[1].store(u64::from(prefix.is_some()));
        }
    }
    sync(());
    if notes[1].load() == 0 {
        return;
    }
    // SAFETY: written before the barrier.
    let prefix = unsafe { warps.get(of_warp) };
    for row in 0..R {
        for lane in 0..V {
            rows[row][lane] = combine(prefix, rows[row][lane]);
        }
    }
    // SAFETY: no other block has the tile, and nobody reads the output.
    unsafe { place.store(y, rows) };
}
