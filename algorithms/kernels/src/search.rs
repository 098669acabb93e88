//! Searches: positions of needles in sorted keys, and of the smallest key.

use gpu_std::{
    atomic::{Acquire, Device, fence},
    collective::{BlockScratch, Min, Operator, arrives_last, is_last_block},
    prelude::*,
};

use crate::key::{KeyWord, Order, from_word, to_word};
use crate::tile::{self, RESIDENT_BLOCKS, ROWS};

/// Finds for each needle how many keys, which are sorted, are less, or with `upper` not greater.
#[kernel]
pub fn search<W: KeyWord>(keys: &[W], needles: &[W], order: Order<W>, upper: u32, positions: PerThread<u64>) {
    for (i, position) in positions {
        let Some(needle) = needles.get(i) else { return };
        let needle = to_word(*needle, order);
        let (mut first, mut len) = (0, keys.len());
        while len > 0 {
            let half = len / 2;
            let is_before = keys.get(first + half).is_some_and(|key| {
                let key = to_word(*key, order);
                key < needle || upper != 0 && key == needle
            });
            if is_before {
                first += half + 1;
                len -= half + 1;
            } else {
                len = half;
            }
        }
        *position = first as u64;
    }
}

/// A candidate: a word, and the position of its key. The smaller word comes first, of equal ones the first position.
type Candidate = [u64; 2];

/// The first of two candidates.
#[derive(Clone, Copy)]
struct First;

impl Operator<Candidate> for First {
    #[inline(always)]
    fn combine(&self, a: Candidate, b: Candidate) -> Candidate {
        // Without branches, which a comparison of arrays is.
        let is_second = (b[0] < a[0]) | (b[0] == a[0]) & (b[1] < a[1]);
        if is_second { b } else { a }
    }

    #[inline(always)]
    fn combine_lanes(&self, lanes: u32, [word, at]: Candidate) -> Option<Candidate> {
        let smallest = Min.combine_lanes(lanes, word)?;
        let first = Min.combine_lanes(lanes, if word == smallest { at } else { u64::MAX })?;
        Some([smallest, first])
    }
}

/// Finds the position of the first of the smallest keys, `u64::MAX` if there are none. `V` keys make a vector.
///
/// Each block leaves its candidate in `parts`, two numbers, and the last one compares them. `arrived` is 0 before.
#[kernel(block = 256, min_blocks_per_sm = RESIDENT_BLOCKS, dims = 1)]
pub fn first_of_smallest<W: KeyWord, const V: usize>(
    keys: &[W],
    order: Order<W>,
    parts: &[Atomic<u64>],
    arrived: &[Atomic<u32>],
    position: &[Atomic<u64>],
    mut scratch: BlockScratch<Candidate>,
) {
    let blocks = gpu_std::blocks_per_grid();
    let (Some(parts), Some(arrived)) = (parts.as_chunks::<2>().0.get(..blocks), arrived.first()) else {
        return;
    };
    let (word, at) = first_of_tiles::<W, V>(keys, order);
    let first = scratch.reduce_to_first([word.bits(), at], First);
    let store = first.zip(parts.get(block_rank())).map(|([word, at], part)| {
        move || {
            part[0].store(word);
            part[1].store(at);
        }
    });
    if !is_last_block(arrived, store) {
        return;
    }
    let mut first = [u64::MAX; 2];
    for part in block_stride(blocks).filter_map(|block| parts.get(block)) {
        first = First.combine(first, [part[0].load(), part[1].load()]);
    }
    if let (Some([_, at]), Some(position)) = (scratch.reduce_to_first(first, First), position.first()) {
        position.store(if at < keys.len() as u64 { at } else { u64::MAX });
    }
}

/// Finds the same of fewer than 2³² keys whose words have 32 bits: a candidate is one number, with the word in its upper half, so that blocks combine theirs by
/// one atomic operation. `smallest` and `arrived` are 0 before.
#[kernel(block = 256, min_blocks_per_sm = RESIDENT_BLOCKS, dims = 1)]
pub fn first_of_smallest_packed<const V: usize>(
    keys: &[u32],
    order: Order<u32>,
    smallest: &[Atomic<u64>],
    arrived: &[Atomic<u32>],
    position: &[Atomic<u64>],
    mut scratch: BlockScratch<u64>,
) {
    let (word, at) = first_of_tiles::<u32, V>(keys, order);
    let first = scratch.reduce_to_first(u64::from(word) << 32 | u64::from(at as u32), Min);
    let (Some(first), Some(smallest), Some(arrived), Some(position)) =
        (first, smallest.first(), arrived.first(), position.first())
    else {
        return;
    };
    // Of the complements it is the largest, and 0 is less than that of any key.
    smallest.fetch_max(!first);
    if arrives_last(arrived) {
        fence(Device, Acquire);
        let at = u64::from(!smallest.load() as u32);
        position.store(if at < keys.len() as u64 { at } else { u64::MAX });
    }
}

/// The smallest word of the keys that the calling thread has in the tiles of its block, and its first position, which is behind the keys if it has none.
///
/// For each key it takes a minimum. Which key of a tile has it is looked for only if it is less than those of all tiles before, while the keys are in registers.
#[inline(always)]
fn first_of_tiles<W: KeyWord, const V: usize>(keys: &[W], order: Order<W>) -> (W, u64) {
    let blocks = gpu_std::blocks_per_grid();
    let tiles = keys.len().div_ceil(tile::tile_len(V));
    // The word that comes last. If no other is less, the thread's first key has it, or there is none.
    let (mut smallest, fill) = (W::ALL, from_word(W::ALL, order));
    // Which of the thread's keys it is, and how many the thread has seen, a register each: no memory holds 2³² keys for each thread of a block.
    let (mut nth, mut seen) = (0_u32, 0_u32);
    let mut tile = block_rank();
    while tile < tiles {
        let mut rows = tile::load::<W, V>(keys, tile, fill);
        for row in 0..ROWS {
            for lane in 0..V {
                rows[row][lane] = to_word(rows[row][lane], order);
            }
        }
        let words = rows.as_flattened();
        let word = words.iter().fold(W::ALL, |a, &b| if b < a { b } else { a });
        if word < smallest {
            smallest = word;
            for k in (0..ROWS * V).rev() {
                if words[k] == word {
                    nth = seen.wrapping_add(k as u32);
                }
            }
        }
        seen = seen.wrapping_add((ROWS * V) as u32);
        tile += blocks;
    }
    let (turn, in_tile) = (nth as usize / (ROWS * V), nth as usize % (ROWS * V));
    let tile = block_rank() + turn * blocks;
    (smallest, (tile::position::<V>(tile, in_tile / V) + in_tile % V) as u64)
}
