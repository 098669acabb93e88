//! Selections: elements that are moved together, in their order.

use gpu_std::{
    SharedElement,
    collective::{BlockScratch, Sum},
    prelude::{
        memory::{SharedCells, UnsafeShared, UnsafeSlice},
        *,
    },
};

use crate::{
    BLOCK,
    element::Each,
    look_back::LookBack,
    tile::{self, ROWS, is_whole, position},
};

/// Which elements are selected: by flags, by a predicate, or as the first of equal ones.
pub trait Choice<T>: DeviceCopy {
    /// Whether elements are compared with those before them.
    const COMPARES: bool = false;
    /// Whether flags are read.
    const HAS_FLAGS: bool = false;

    /// Whether an element is selected: with its flag if there is one, and the element before it if that is asked for and there is one.
    fn chooses(&self, x: T, flag: u8, before: Option<T>) -> bool;
}

/// Elements whose flag is not 0.
#[derive(Clone, Copy, Debug, DeviceCopy)]
#[repr(C)]
pub struct Flagged;

impl<T> Choice<T> for Flagged {
    const HAS_FLAGS: bool = true;

    #[inline(always)]
    fn chooses(&self, _: T, flag: u8, _: Option<T>) -> bool {
        flag != 0
    }
}

/// The first of elements that follow each other and are equal.
#[derive(Clone, Copy, Debug, DeviceCopy)]
#[repr(C)]
pub struct Distinct;

impl<T: PartialEq> Choice<T> for Distinct {
    const COMPARES: bool = true;

    #[inline(always)]
    fn chooses(&self, x: T, _: u8, before: Option<T>) -> bool {
        before.is_none_or(|before| before != x)
    }
}

/// Elements that satisfy a predicate.
#[derive(Clone, Copy, Debug, DeviceCopy)]
#[repr(C)]
pub struct Where<F>(pub F);

impl<T, F: DeviceCopy + gpu_std::DeviceFn<(T,), Output = bool>> Choice<T> for Where<F> {
    #[inline(always)]
    fn chooses(&self, x: T, _: u8, _: Option<T>) -> bool {
        self.0.call((x,))
    }
}

/// Moves the elements that are chosen to `chosen`, the others to `rest`, each in their order, as far as there is room, and stores how many are chosen,
/// and how many are not. `V` elements make a vector, `TILE` a tile, of which each block has one.
///
/// # Safety
/// `state` has [`state_len`](crate::state_len) words for values of 8 bytes, which are 0.
#[kernel(block = 256)]
pub unsafe fn select<T: SharedElement, C: Choice<T>, const V: usize, const TILE: usize>(
    x: &[T],
    flags: &[u8],
    choice: C,
    state: &[Atomic<u64>],
    count: &[Atomic<u64>],
    chosen: UnsafeSlice<T>,
    rest: UnsafeSlice<T>,
    notes: SharedCells<u64, 2>,
    moved: UnsafeShared<T, TILE>,
    mut scratch: BlockScratch<[u32; 4]>,
) {
    let tiles = x.len().div_ceil(TILE);
    let look_back = LookBack::take(state, tiles, &notes);
    let _poison = look_back.poison_on_panic();
    let (tile, thread) = (look_back.tile, thread_rank() as usize);
    let there = x.len().saturating_sub(tile.saturating_mul(TILE)).min(TILE);
    let rows = tile::load::<T, V>(x, tile, T::zeroed());
    let of_flags = if C::HAS_FLAGS { tile::load::<u8, V>(flags, tile, 0) } else { [[0; V]; ROWS] };
    let mut are_chosen = [[false; V]; ROWS];
    let mut counts = [0; ROWS];
    for row in 0..ROWS {
        let first = position::<V>(tile, row);
        // In the first place nothing is before.
        let mut before = if C::COMPARES { x.get(first.wrapping_sub(1)).copied() } else { None };
        for lane in 0..V {
            let element = rows[row][lane];
            if (is_whole::<V>(tile, x.len()) || first + lane < x.len())
                && choice.chooses(element, of_flags[row][lane], before)
            {
                are_chosen[row][lane] = true;
                counts[row] += 1;
            }
            before = Some(element);
        }
    }
    let (in_rows, totals) = scratch.exclusive_scan_with_total(counts, [0; ROWS], Each(Sum));
    let total = (totals[0] + totals[1] + totals[2] + totals[3]) as usize;
    if thread < 32 {
        let prefix = look_back.prefix::<u64, Sum>(total as u64, 0);
        if thread == 0 {
            notes[1].store(prefix.unwrap_or(u64::MAX));
        }
    }
    let mut before_row = 0;
    for row in 0..ROWS {
        let mut place = (before_row + in_rows[row]) as usize;
        for lane in 0..V {
            let in_tile = (row * BLOCK + thread) * V + lane;
            let to = if are_chosen[row][lane] { place } else { total + in_tile - place };
            if are_chosen[row][lane] || in_tile < there {
                // SAFETY: each element of the tile has another place below their number, and is read behind the barrier.
                unsafe { moved.set(to.min(TILE - 1), rows[row][lane]) };
            }
            place += usize::from(are_chosen[row][lane]);
        }
        before_row += totals[row];
    }
    sync(());
    let prefix = notes[1].load();
    if prefix == u64::MAX {
        return;
    }
    let prefix = prefix as usize;
    let before = (tile * TILE).wrapping_sub(prefix);
    let mut i = thread;
    while i < there {
        let (to, at) = if i < total { (chosen, prefix + i) } else { (rest, before.wrapping_add(i - total)) };
        if at < to.len() {
            // SAFETY: the element was moved before the barrier; as the launch promises, no other has this position.
            unsafe { to.set(at, moved.get(i)) };
        }
        i += BLOCK;
    }
    if thread == 0 && tile + 1 == tiles {
        let (chosen, all) = ((prefix + total) as u64, x.len() as u64);
        for (count, number) in count.iter().zip([chosen, all - chosen]) {
            count.store(number);
        }
    }
}
