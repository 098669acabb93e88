//! Searches: positions of needles in sorted keys, and of the smallest key.

use bytemuck::{Pod, Zeroable};
use gpu_std::{
    Atomic, DeviceCopy,
    atomic::{Acquire, Device, Release, fence},
    collective::{BlockScratch, Operator},
    prelude::*,
    sync_any,
};

use crate::key::{KeyWord, Order, from_word, to_word};
use crate::tile::{self, RESIDENT_BLOCKS};

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

/// A word and the position of its key, in two words.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Candidate<W> {
    word: W,
    position: [u32; 2],
}

impl<W: KeyWord> Candidate<W> {
    #[inline(always)]
    fn new(word: W, position: u64) -> Self {
        Self { word, position: [position as u32, (position >> 32) as u32] }
    }

    #[inline(always)]
    fn position(&self) -> u64 {
        u64::from(self.position[0]) | u64::from(self.position[1]) << 32
    }
}

// SAFETY: zeros are numbers.
unsafe impl<W: KeyWord> Zeroable for Candidate<W> {}
// SAFETY: a word has 4 or 8 bytes, so that there is no padding before or behind the position.
unsafe impl<W: KeyWord> Pod for Candidate<W> {}
// SAFETY: it is laid out as C does, on each target.
#[diagnostic::do_not_recommend]
unsafe impl<W: KeyWord> DeviceCopy for Candidate<W> {
    const TYPE: gpu_std::signature::Text =
        gpu_std::signature::Text::Of("gpukernel_algorithms_kernels::Candidate", &[W::TYPE]);
    const ANY_BYTES: bool = true;
}

/// The smaller word, the first of equal ones.
#[derive(Clone, Copy)]
struct First;

impl<W: KeyWord> Operator<Candidate<W>> for First {
    #[inline(always)]
    fn combine(&self, a: Candidate<W>, b: Candidate<W>) -> Candidate<W> {
        if b.word < a.word || b.word == a.word && b.position() < a.position() { b } else { a }
    }
}

/// Finds the position of the first of the smallest keys, `u64::MAX` if there are none. `V` keys make a vector.
///
/// Blocks leave their smallest words in `words`, and in `found` their positions, and behind these how many have done so, which is 0 before. The last block compares them.
#[kernel(block = 256, min_blocks_per_sm = RESIDENT_BLOCKS)]
pub fn first_of_smallest<W: KeyWord, const V: usize>(
    keys: &[W],
    order: Order<W>,
    words: &[Atomic<W>],
    found: &[Atomic<u64>],
    position: &[Atomic<u64>],
    mut scratch: BlockScratch<Candidate<W>>,
) {
    let blocks = gpu_std::blocks_per_grid();
    let (Some(words), Some((found, arrived))) =
        (words.get(..blocks), found.get(..blocks).zip(found.get(blocks)))
    else {
        return;
    };
    let (word, tile) = smallest_of_tiles::<W, V>(keys, order);
    // Few threads have to look for it.
    let smallest = scratch.reduce(Candidate::new(word, u64::MAX), First).word;
    let at = if word == smallest { position_in_tile::<W, V>(keys, order, tile, word) } else { u64::MAX };
    let first = scratch.reduce_to_first(Candidate::new(word, at), First);
    let is_last = first.is_some_and(|first| {
        let rank = block_rank();
        if let (Some(word), Some(at)) = (words.get(rank), found.get(rank)) {
            word.store(first.word);
            at.store(first.position());
        }
        // For the block that comes last.
        fence(Device, Release);
        arrived.fetch_add(1) + 1 == blocks as u64
    });
    if !sync_any((), is_last).1 {
        return;
    }
    fence(Device, Acquire);
    let mut first = Candidate::new(W::ALL, u64::MAX);
    for (word, at) in block_stride(blocks).filter_map(|block| words.get(block).zip(found.get(block))) {
        first = First.combine(first, Candidate::new(word.load(), at.load()));
    }
    if let (Some(first), Some(position)) = (scratch.reduce_to_first(first, First), position.first()) {
        position.store(first.position());
    }
}

/// The smallest word of the keys that the calling thread has in the tiles of its block, and the first tile that has it: a minimum for each key, and little more
/// for each tile.
#[inline(always)]
fn smallest_of_tiles<W: KeyWord, const V: usize>(keys: &[W], order: Order<W>) -> (W, usize) {
    let tiles = keys.len().div_ceil(tile::tile_len(V));
    // Comes last.
    let fill = from_word(W::ALL, order);
    let mut smallest = (W::ALL, block_rank());
    let mut tile = block_rank();
    while tile < tiles {
        let rows = tile::load::<W, V>(keys, tile, fill);
        let words = rows.as_flattened().iter().map(|key| to_word(*key, order));
        let word = words.fold(W::ALL, |a, b| if b < a { b } else { a });
        if word < smallest.0 {
            smallest = (word, tile);
        }
        tile += gpu_std::blocks_per_grid();
    }
    smallest
}

/// The first position of a word among those that the calling thread has in a tile; `u64::MAX` if it has none.
#[inline(always)]
fn position_in_tile<W: KeyWord, const V: usize>(keys: &[W], order: Order<W>, tile: usize, word: W) -> u64 {
    for row in 0..tile::ROWS {
        for lane in 0..V {
            let at = tile::position::<V>(tile, row) + lane;
            if keys.get(at).is_some_and(|key| to_word(*key, order) == word) {
                return at as u64;
            }
        }
    }
    u64::MAX
}
