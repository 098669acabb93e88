//! The smallest keys: their largest word is found digit by digit, the highest first, and then they are collected in one pass (radix select).

use gpu_std::{
    collective::{BlockScratch, Operator, Sum},
    prelude::{
        memory::{SharedCells, UnsafeShared, UnsafeSlice},
        *,
    },
};

use crate::{
    Identity,
    element::Each,
    key::{KeyWord, Order, to_word},
    look_back::LookBack,
    sort::DIGITS,
    tile::{self, RESIDENT_BLOCKS, ROWS, is_whole, position},
};

/// Where the higher digits of the largest word are, and how many words of these digits are among the smallest.
const PREFIX: usize = 0;
const LEFT: usize = 1;

/// Counts the digits of the words that have the higher digits which were found.
#[kernel(block = 256, min_blocks_per_sm = RESIDENT_BLOCKS)]
pub fn count_candidates<W: KeyWord, const V: usize>(
    keys: &[W],
    order: Order<W>,
    shift: u32,
    found: &[Atomic<u64>],
    counts: &[Atomic<u64>],
    counters: SharedAtomics<u32, 256>,
) {
    counters.fill(0);
    sync(());
    let is_highest = shift + 8 == 8 * size_of::<W>() as u32;
    let prefix = found.get(PREFIX).map_or(0, |prefix| prefix.load());
    let count = |key: W| {
        let word = to_word(key, order);
        if is_highest || word.bits() >> ((shift + 8) & 63) == prefix >> ((shift + 8) & 63) {
            counters[word.digit(shift) as usize & (DIGITS - 1)].fetch_add(1);
        }
    };
    let mut tile = block_rank();
    while tile < keys.len().div_ceil(tile::tile_len(V)) {
        let rows = tile::load::<W, V>(keys, tile, W::ALL);
        let whole = is_whole::<V>(tile, keys.len());
        for row in 0..ROWS {
            for lane in 0..V {
                if whole || position::<V>(tile, row) + lane < keys.len() {
                    count(rows[row][lane]);
                }
            }
        }
        tile += gpu_std::blocks_per_grid();
    }
    sync(());
    for (digit, counter) in counters.owned() {
        if let (Some(count), number @ 1..) = (counts.get(digit), counter.load()) {
            count.fetch_add(number.into());
        }
    }
}

/// Finds the digit of the word that is number `k` in order, or of those that are left, and sets the counts to 0. One block.
#[kernel(block = 256)]
pub fn choose_digit(
    k: u64,
    is_highest: u32,
    shift: u32,
    found: &[Atomic<u64>],
    counts: &[Atomic<u64>],
    mut scratch: BlockScratch<u64>,
) {
    let digit = thread_rank();
    let (Some(prefix), Some(left), Some(count)) =
        (found.get(PREFIX), found.get(LEFT), counts.get(digit as usize))
    else {
        return;
    };
    let (higher, wanted) = if is_highest != 0 { (0, k) } else { (prefix.load(), left.load()) };
    let number = count.load();
    count.store(0);
    // Behind its barrier nobody reads what was found so far.
    let before = scratch.exclusive_scan(number, 0, Sum);
    if before < wanted && wanted - before <= number {
        prefix.store(higher | u64::from(digit) << (shift & 63));
        left.store(wanted - before);
    }
}

/// Two counts.
#[derive(Clone, Copy, Default)]
struct Counts;

impl Operator<[u64; 2]> for Counts {
    #[inline(always)]
    fn combine(&self, [a, b]: [u64; 2], [c, d]: [u64; 2]) -> [u64; 2] {
        [a.wrapping_add(c), b.wrapping_add(d)]
    }
}

impl Identity<[u64; 2]> for Counts {
    const IDENTITY: [u64; 2] = [0; 2];
}

/// Collects the `k` smallest words in their order, those that equal the largest of them behind the others, and the positions of their keys.
///
/// # Safety
/// `state` has [`state_len`](crate::state_len) words for values of 16 bytes, which are 0.
#[kernel(block = 256)]
pub unsafe fn collect_smallest<W: KeyWord, const V: usize>(
    keys: &[W],
    order: Order<W>,
    k: u64,
    found: &[u64],
    state: &[Atomic<u64>],
    words: UnsafeSlice<W>,
    positions: UnsafeSlice<u32>,
    notes: SharedCells<u64, 2>,
    before: UnsafeShared<[u64; 2], 1>,
    mut scratch: BlockScratch<[[u32; 2]; 4]>,
) {
    let (Some(largest), Some(left)) = (found.get(PREFIX), found.get(LEFT)) else { return };
    let look_back = LookBack::take(state, keys.len().div_ceil(tile::tile_len(V)), &notes);
    let _poison = look_back.poison_on_panic();
    let tile = look_back.tile;
    let mut rows = tile::load::<W, V>(keys, tile, W::ALL);
    let mut counts = [[0; 2]; ROWS];
    let mut which = [[2_usize; V]; ROWS];
    for row in 0..ROWS {
        for lane in 0..V {
            rows[row][lane] = to_word(rows[row][lane], order);
            let word = rows[row][lane].bits();
            let is_there = position::<V>(tile, row) + lane < keys.len();
            let (is_less, is_equal) = (is_there && word < *largest, is_there && word == *largest);
            counts[row][0] += u32::from(is_less);
            counts[row][1] += u32::from(is_equal);
            which[row][lane] = if is_less {
                0
            } else if is_equal {
                1
            } else {
                2
            };
        }
    }
    let (in_rows, totals) = scratch.exclusive_scan_with_total(counts, [[0; 2]; ROWS], Each(Each(Sum)));
    if thread_rank() < 32 {
        let mut aggregate = [0; 2];
        for row in 0..ROWS {
            aggregate = Counts.combine(aggregate, totals[row].map(u64::from));
        }
        if thread_rank() == 0 {
            look_back.publish_aggregate(aggregate);
        }
        let prefix = look_back.prefix::<[u64; 2], Counts>(aggregate, [0, k.wrapping_sub(*left)]);
        if thread_rank() == 0 {
            // SAFETY: only this thread writes it, and others read it behind the barrier.
            unsafe { before.set(0, prefix.unwrap_or([k; 2])) };
        }
    }
    sync(());
    // SAFETY: written before the barrier.
    let mut before_row = unsafe { before.get(0) };
    for row in 0..ROWS {
        let [mut less, mut equal] = Counts.combine(before_row, in_rows[row].map(u64::from));
        for lane in 0..V {
            let at = match which[row][lane] {
                0 => less,
                1 => equal,
                _ => k,
            };
            less += u64::from(which[row][lane] == 0);
            equal += u64::from(which[row][lane] == 1);
            let at = at as usize;
            if at < k as usize && at < words.len() && at < positions.len() {
                // SAFETY: as the launch promises, no other word has this position.
                unsafe {
                    words.set(at, rows[row][lane]);
                    positions.set(at, (position::<V>(tile, row) + lane) as u32);
                }
            }
        }
        before_row = Counts.combine(before_row, totals[row].map(u64::from));
    }
}
