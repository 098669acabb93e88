//! Radix sort by digits of eight bits, the lowest first (Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022).
//!
//! One pass counts all digits. Then there is a pass for each digit, which reads and writes each key once: a block sorts a tile in shared memory, and
//! learns how many keys of each digit are in the tiles before it from their blocks, while these run.

use core::mem::MaybeUninit;

use gpu_std::{
    SharedElement,
    collective::{BlockScratch, Sum},
    prelude::{
        memory::{SharedCells, UnsafeShared, UnsafeSlice},
        warp::{LaneGroup, lane_index, lane_mask_lt, warp, warp_index},
        *,
    },
};

use crate::{
    Bytes,
    key::{KeyWord, Order, from_word, to_word},
    tile::{self, RESIDENT_BLOCKS},
};

/// The number of digits that there are.
pub const DIGITS: usize = 256;

/// What is sorted along with keys: the bytes of any type of 4 or 8 bytes, or nothing.
pub trait SortValue: SharedElement {
    /// The number of a key, in place of a value.
    #[doc(hidden)]
    fn from_index(index: usize) -> Self;
}

impl SortValue for () {
    #[inline(always)]
    fn from_index(_: usize) {}
}

impl SortValue for Bytes<u32> {
    #[inline(always)]
    fn from_index(index: usize) -> Self {
        Self(MaybeUninit::new(index as u32))
    }
}

impl SortValue for Bytes<u64> {
    #[inline(always)]
    fn from_index(index: usize) -> Self {
        Self(MaybeUninit::new(index as u64))
    }
}

/// Adds to each counter the number of keys with the digit: [`DIGITS`] counters for each digit of a word, the lowest first, `N` in all. Those of
/// one begin `stride` counters after those of the one before.
#[kernel(block = 256, min_blocks_per_sm = RESIDENT_BLOCKS)]
pub fn count_digits<W: KeyWord, const V: usize, const N: usize>(
    keys: &[W],
    order: Order<W>,
    stride: usize,
    counts: &[Atomic<u64>],
    counters: SharedAtomics<u32, N>,
) {
    counters.fill(0);
    sync(());
    let count = |key: W| {
        let word = to_word(key, order);
        for place in 0..N / DIGITS {
            let digit = word.digit(8 * place as u32) as usize;
            if let Some(counter) = counters.get(place * DIGITS + digit) {
                counter.fetch_add(1);
            }
        }
    };
    let mut tile = block_rank();
    while tile < keys.len().div_ceil(tile::tile_len(V)) {
        if tile::is_whole::<V>(tile, keys.len()) {
            let rows = tile::load::<W, V>(keys, tile, W::ALL);
            for row in 0..tile::ROWS {
                for lane in 0..V {
                    count(rows[row][lane]);
                }
            }
        } else {
            for i in block_stride(tile::tile_len(V)) {
                if let Some(key) = keys.get(tile * tile::tile_len(V) + i) {
                    count(*key);
                }
            }
        }
        tile += gpu_std::blocks_per_grid();
    }
    sync(());
    for (i, counter) in counters.owned() {
        if let (Some(count), found @ 1..) = (counts.get(i / DIGITS * stride + i % DIGITS), counter.load()) {
            count.fetch_add(found.into());
        }
    }
}

/// Replaces the counts of digits by the positions of the first key with each: one block for each digit of a word.
///
/// `stride` counters are there for each, of which the first [`DIGITS`] are read and written.
#[kernel(block = 256)]
pub fn start_digits(stride: usize, counts: &[Atomic<u64>], mut scratch: BlockScratch<u64>) {
    let place = counts.get(block_rank() * stride + thread_rank() as usize);
    let start = scratch.exclusive_scan(place.map_or(0, |place| place.load()), 0, Sum);
    if let Some(place) = place {
        place.store(start);
    }
}

/// A word of the state of a tile's digit: what the upper bits say of the count in the others.
const OF_TILE: u32 = 1 << 30;
const UP_TO_TILE: u32 = 2 << 30;
const COUNT: u32 = OF_TILE - 1;

/// Sorts keys and values by a digit, stable. One block of `THREADS` for each tile of `TILE` keys, which are `ITEMS` for each thread; all together less than
/// 2³⁰. `COUNTERS` are [`DIGITS`] for each warp. `M` is the larger one of keys and values.
///
/// Values are `values`, or if there are none the numbers of keys, from `index` on. The positions of digits are read from `starts`, the first [`DIGITS`], and those
/// after these keys written to the next. Each block brings the tile that is `ahead` after its own to the L2 cache, for a block that runs later, unless
/// `ahead` is 0.
///
/// # Safety
/// `state` is 0: a word for tickets, and [`DIGITS`] for each tile. `starts` are positions such that each key has one of its own.
#[kernel(block = THREADS as u32, min_blocks_per_sm = BLOCKS)]
pub unsafe fn sort_pass<
    W: KeyWord,
    V: SortValue,
    M: SharedElement,
    const ITEMS: usize,
    const THREADS: usize,
    const TILE: usize,
    const COUNTERS: usize,
    const BLOCKS: u32,
    const AHEAD: usize,
>(
    keys: &[W],
    values: &[V],
    index: usize,
    from: Order<W>,
    to: Order<W>,
    shift: u32,
    starts: &[Atomic<u64>],
    state: &[Atomic<u32>],
    keys_out: UnsafeSlice<W>,
    values_out: UnsafeSlice<V>,
    ahead: usize,
    notes: SharedCells<u32, 1>,
    counters: SharedAtomics<u32, COUNTERS>,
    places: UnsafeShared<u64, 256>,
    moved: UnsafeShared<M, TILE>,
    mut scratch: BlockScratch<u32>,
) {
    const { assert!(TILE == THREADS * ITEMS && COUNTERS == THREADS / 32 * DIGITS && THREADS >= DIGITS) };
    const { assert!(size_of::<M>() >= size_of::<W>() && align_of::<M>() >= align_of::<W>()) };
    const { assert!(size_of::<M>() >= size_of::<V>() && align_of::<M>() >= align_of::<V>()) };
    let has_values = size_of::<V>() != 0;
    let (thread, warp, lane) = (thread_rank() as usize, warp(), lane_index() as usize);
    let of_warp = warp_index() as usize % (THREADS / 32) * DIGITS;
    if thread == 0 {
        notes[0].store(state.first().map_or(u32::MAX, |tickets| tickets.fetch_add(1)));
    }
    counters.fill(0);
    sync(());
    let tile = notes[0].load() as usize;
    let first = tile * TILE;
    // Of the last tile there are less, and keys behind the end are the largest: their digits are last among all, and they last among their digit.
    let there = keys.len().saturating_sub(first).min(TILE);
    let of_lane = warp_index() as usize * 32 * ITEMS + lane;
    let mut words = [W::ALL; ITEMS];
    if there == TILE {
        unroll::<ITEMS>(|k| {
            // SAFETY: all keys of the tile are there.
            words[k] = unsafe { *keys.get_unchecked(first + of_lane + 32 * k) };
        });
    } else {
        unroll::<ITEMS>(|k| {
            words[k] = match keys.get(first + of_lane + 32 * k) {
                Some(key) => *key,
                None => from_word(W::ALL, from),
            };
        });
    }
    if ahead > 0 {
        let first = tile.saturating_add(ahead).saturating_mul(TILE);
        tile::prefetch::<W, THREADS, 1, ITEMS>(keys, first);
        if has_values {
            tile::prefetch::<V, THREADS, 1, ITEMS>(values, first);
        }
    }
    // Digits are counted before keys are ranked, so that other blocks have the counts while this one ranks.
    unroll::<ITEMS>(|k| {
        words[k] = to_word(words[k], from);
        counters[of_warp + (words[k].digit(shift) as usize & (DIGITS - 1))].fetch_add(1);
    });
    sync(());
    // A thread for each digit.
    let digit = thread & (DIGITS - 1);
    let word_of = |tile: usize| state.get(1 + tile * DIGITS + digit);
    let mut count = 0;
    if thread < DIGITS {
        for warp in 0..THREADS / 32 {
            count += counters[warp * DIGITS + digit].load();
        }
    }
    let in_tile = if digit == DIGITS - 1 { count.saturating_sub((TILE - there) as u32) } else { count };
    if thread < DIGITS
        && let Some(word) = word_of(tile)
    {
        word.store(if tile == 0 { UP_TO_TILE | in_tile } else { OF_TILE | in_tile });
    }
    let start = scratch.exclusive_scan(count, 0, Sum);
    if thread < DIGITS {
        let mut before = start;
        for warp in 0..THREADS / 32 {
            let counter = &counters[warp * DIGITS + digit];
            let count = counter.load();
            counter.store(before);
            before += count;
        }
    }
    sync(());
    // Addresses of counters are computed again: kept since they were counted, they would take as many registers as keys.
    let shift = tile::as_one(shift);
    // Two in a word: a tile has less than 2¹⁶ keys.
    let mut locals = [0_u32; 32];
    unroll::<ITEMS>(|k| {
        let digit = words[k].digit(shift);
        let peers = same_digit(digit);
        // The last of them, whose number among them is how many they are, less one.
        let leader = 31 - peers.leading_zeros();
        let rank = (peers & lane_mask_lt()).count_ones();
        let counter = &counters[of_warp + (digit as usize & (DIGITS - 1))];
        let before = if lane as u32 == leader { counter.fetch_add(rank + 1) } else { 0 };
        // All lanes are at the shuffle before one of them adds for the next key.
        let local = (warp.shuffle(before, leader) + rank).min(TILE as u32 - 1);
        locals[k / 2] |= local << (16 * (k % 2));
        // SAFETY: each key of the tile has another place, and is read behind the barrier; elements are as large.
        unsafe { *moved.as_mut_ptr().cast::<W>().add(local as usize) = words[k] };
    });
    // They come while the block waits for the counts of others. Those of a thread take the registers of its keys.
    let mut of_thread = [V::zeroed(); ITEMS];
    if has_values {
        if first + TILE <= values.len() {
            unroll::<ITEMS>(|k| {
                // SAFETY: all values of the tile are there.
                of_thread[k] = unsafe { *values.get_unchecked(first + of_lane + 32 * k) };
            });
        } else {
            unroll::<ITEMS>(|k| {
                let i = first + of_lane + 32 * k;
                of_thread[k] = match values.get(i) {
                    Some(value) => *value,
                    None => V::from_index(index.wrapping_add(i)),
                };
            });
        }
        // Followed bit by bit, they would take more registers than there are until values are moved.
        for two in &mut locals[..ITEMS.div_ceil(2)] {
            *two = tile::as_one(*two);
        }
    }
    if thread < DIGITS {
        let before = if tile == 0 { 0 } else { keys_before::<AHEAD>(tile, word_of) };
        if let (Some(word), 1..) = (word_of(tile), tile) {
            word.store(UP_TO_TILE | (before + in_tile));
        }
        let position = starts.get(digit).map_or(0, |start| start.load()) + u64::from(before);
        if first + there == keys.len()
            && let Some(next) = starts.get(DIGITS + digit)
        {
            next.store(position + u64::from(in_tile));
        }
        // SAFETY: each thread writes its own, which others read behind the barrier.
        unsafe { places.set(digit, position.wrapping_sub(start.into())) };
    }
    sync(());
    // Four in a word.
    let mut digits = [0_u32; 16];
    let position = |k: usize, digit: u32| {
        // SAFETY: written before the barrier.
        let place = unsafe { places.get(digit as usize & (DIGITS - 1)) };
        place.wrapping_add((THREADS * k + thread) as u64) as usize
    };
    unroll::<ITEMS>(|k| {
        if THREADS * k + thread < there {
            // SAFETY: written before the barrier.
            let word = unsafe { *moved.as_mut_ptr().cast::<W>().add(THREADS * k + thread) };
            let digit = word.digit(shift);
            digits[k / 4] |= digit << (8 * (k % 4));
            let at = position(k, digit);
            if at < keys_out.len() {
                // SAFETY: as the launch promises, no other key has the position.
                unsafe { keys_out.set(at, from_word(word, to)) };
            }
        }
    });
    if has_values {
        for four in &mut digits[..ITEMS.div_ceil(4)] {
            *four = tile::as_one(*four);
        }
        // Values take the place of keys.
        sync(());
        unroll::<ITEMS>(|k| {
            let local = locals[k / 2] >> (16 * (k % 2)) & 0xffff;
            // SAFETY: as for keys, which are read.
            unsafe { *moved.as_mut_ptr().cast::<V>().add(local as usize) = of_thread[k] };
        });
        sync(());
        unroll::<ITEMS>(|k| {
            if THREADS * k + thread < there {
                let at = position(k, digits[k / 4] >> (8 * (k % 4)));
                if at < values_out.len() {
                    // SAFETY: as for keys.
                    unsafe {
                        values_out.set(at, *moved.as_mut_ptr().cast::<V>().add(THREADS * k + thread));
                    }
                }
            }
        });
    }
}

/// How many keys with a digit are in the tiles before one: `AHEAD` of these are read at once, because each takes a while to come.
#[inline(always)]
fn keys_before<'a, const AHEAD: usize>(
    tile: usize,
    word_of: impl Fn(usize) -> Option<&'a Atomic<u32>>,
) -> u32 {
    let mut before = 0;
    let mut earlier = tile;
    loop {
        let mut found = [0; AHEAD];
        for k in 0..AHEAD {
            // Before the first tile there are none.
            found[k] = if k < earlier {
                word_of(earlier - 1 - k).map_or(UP_TO_TILE, |word| word.load())
            } else {
                UP_TO_TILE
            };
        }
        for k in 0..AHEAD {
            if found[k] == 0
                && let Some(word) = word_of(earlier - 1 - k)
            {
                found[k] = wait_for(word);
            }
            before += found[k] & COUNT;
            if found[k] >= UP_TO_TILE {
                return before;
            }
        }
        earlier -= AHEAD;
    }
}

/// Waits until a word is not 0. No kernel that changes it can panic.
#[inline(always)]
fn wait_for(word: &Atomic<u32>) -> u32 {
    let mut polls = 0_u32;
    loop {
        let found = word.load();
        if found != 0 {
            return found;
        }
        polls = polls.wrapping_add(1);
        crate::look_back::pause(polls);
    }
}

/// The lanes of the warp that have the same digit.
#[inline(always)]
fn same_digit(digit: u32) -> u32 {
    // A vote for each bit is faster than `match.any`, which takes a round for each value that there is. On the CPU each vote is a meeting.
    #[cfg(target_arch = "nvptx64")]
    {
        let mut peers = u32::MAX;
        for bit in 0..8 {
            // Whether it is set, LLVM asks by a shift for the vote, and by a mask for the choice.
            let is_clear = digit & 1 << bit == 0;
            let voters = warp().ballot(is_clear);
            peers &= if is_clear { voters } else { !voters };
        }
        peers
    }
    #[cfg(not(target_arch = "nvptx64"))]
    warp().match_any(digit)
}

/// Writes the words of keys.
#[kernel]
pub fn to_words<K: SortKey>(keys: &[K], words: PerThread<K::Word>) {
    for (i, word) in words {
        if let Some(key) = keys.get(i) {
            *word = key.to_word();
        }
    }
}

/// A key of a user's type: sorted as a word of the same order.
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use gpu_std::prelude::*;
/// use gpukernel_algorithms_kernels::{SortKey, sort_key};
///
/// #[derive(Clone, Copy, Debug, DeviceCopy, Pod, Zeroable)]
/// #[repr(C)]
/// pub struct Date {
///     pub day: u16,
///     pub month: u16,
///     pub year: u32,
/// }
///
/// impl SortKey for Date {
///     type Word = u64;
///
///     fn to_word(&self) -> u64 {
///         u64::from(self.year) << 32 | u64::from(self.month) << 16 | u64::from(self.day)
///     }
/// }
///
/// sort_key! {
///     pub mod dates = Date;
/// }
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "keys of type `{Self}` have no order",
    note = "implement `gpukernel_algorithms_kernels::SortKey`: its `to_word` returns a smaller number for a key that comes first"
)]
pub trait SortKey: DeviceCopy {
    /// `u32` or `u64`: half as many bits are sorted in half the time.
    type Word: KeyWord;

    /// The word of the key: that of a smaller key is smaller, and that of an equal one the same.
    fn to_word(&self) -> Self::Word;
}
