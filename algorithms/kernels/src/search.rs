//! Searches: positions of needles in sorted keys, and of the smallest key.

use bytemuck::{Pod, Zeroable};
use gpu_std::{
    DeviceCopy,
    collective::{BlockScratch, Operator},
    prelude::*,
};

use crate::key::{KeyWord, Order, to_word};
use crate::tile;

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

/// Finds the first of the smallest keys, for each block of the grid: the position, and the word. Several are compared by another launch of one block, which
/// has these as `keys` and `positions`. `V` keys make a vector.
#[kernel(block = 256)]
pub fn first_of_smallest<W: KeyWord, const V: usize>(
    keys: &[W],
    positions: &[u64],
    order: Order<W>,
    mut words: PerBlock<W>,
    mut found: PerBlock<u64>,
    mut scratch: BlockScratch<Candidate<W>>,
) {
    let mut first = Candidate::new(W::ALL, u64::MAX);
    let mut tile = block_rank();
    while tile < keys.len().div_ceil(tile::tile_len(V)) {
        let rows = tile::load::<W, V>(keys, tile, W::ALL);
        for row in 0..tile::ROWS {
            for lane in 0..V {
                let at = tile::position::<V>(tile, row) + lane;
                if at < keys.len() {
                    let position = if positions.is_empty() {
                        at as u64
                    } else {
                        positions.get(at).copied().unwrap_or(u64::MAX)
                    };
                    first = First.combine(first, Candidate::new(to_word(rows[row][lane], order), position));
                }
            }
        }
        tile += gpu_std::blocks_per_grid();
    }
    if let (Some(first), Some((_, word)), Some((_, position))) =
        (scratch.reduce_to_first(first, First), words.first_mut(), found.first_mut())
    {
        *word = first.word;
        *position = first.position();
    }
}
