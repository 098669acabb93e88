//! Scans.

use gpu_std::prelude::{
    collective::BlockScratch,
    memory::{SharedCells, UnsafeShared, UnsafeSlice},
    *,
};

use crate::{
    Element, Identity,
    element::Each,
    look_back::{LookBack, nothing},
    tile::{self, ROWS},
};

/// Combines `initial` and the elements up to each, itself included if `inclusive` is not 0, `V` of which make a vector. One block for each tile; `state`
/// has [`state_len`](crate::state_len) words, which are 0.
///
/// Which elements are combined first depends on their number alone, so that results have the same bits on each launch and each device.
#[kernel(block = 256)]
pub fn scan<T: Element, O: Identity<T>, const V: usize>(
    x: &[T],
    initial: T,
    inclusive: u32,
    state: &[Atomic<u64>],
    y: UnsafeSlice<T>,
    notes: SharedCells<u64, 2>,
    before: UnsafeShared<T, 1>,
    mut scratch: BlockScratch<[T; 4]>,
) {
    let operator = O::default();
    let look_back = LookBack::take(state, x.len().div_ceil(tile::tile_len(V)), &notes);
    let _poison = look_back.poison_on_panic();
    let mut rows = tile::load::<T, V>(x, look_back.tile, O::IDENTITY);
    let mut sums = [O::IDENTITY; ROWS];
    for row in 0..ROWS {
        sums[row] = rows[row][0];
        for lane in 1..V {
            sums[row] = operator.combine(sums[row], rows[row][lane]);
        }
    }
    let (in_rows, totals) = scratch.exclusive_scan_with_total(sums, [O::IDENTITY; ROWS], Each(operator));
    if thread_rank() < 32 {
        let mut aggregate = totals[0];
        for row in 1..ROWS {
            aggregate = operator.combine(aggregate, totals[row]);
        }
        let prefix = look_back.prefix::<T, O>(aggregate, initial);
        if thread_rank() == 0 {
            notes[1].store(u64::from(prefix.is_some()));
            // SAFETY: only this thread writes it, and others read it behind the barrier.
            unsafe { before.set(0, prefix.unwrap_or(nothing())) };
        }
    }
    sync(());
    if notes[1].load() == 0 {
        return;
    }
    // SAFETY: written before the barrier.
    let mut before_row = unsafe { before.get(0) };
    for row in 0..ROWS {
        let mut running = operator.combine(before_row, in_rows[row]);
        for lane in 0..V {
            let including = operator.combine(running, rows[row][lane]);
            rows[row][lane] = if inclusive != 0 { including } else { running };
            running = including;
        }
        before_row = operator.combine(before_row, totals[row]);
    }
    // SAFETY: no other block has the tile, and nobody reads the output.
    unsafe { tile::store(y, look_back.tile, rows) };
}
