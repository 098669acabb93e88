//! Prefixes of tiles in a single pass over memory: each block takes the next tile, and learns what the tiles before it amount to from the blocks that
//! have them (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016).
//!
//! Unlike there, results do not depend on which block is how fast. 32 tiles are a group, and 32 groups a chunk. A block waits for the aggregates of the
//! tiles before its own in the group, of the groups before that in the chunk, and for the prefix of the chunk, and combines them in this order; the
//! block of a group's last tile publishes the aggregate of the group, that of a chunk's last tile the prefix of the next chunk. Whatever the
//! number of tiles, that is 63 values, each of which one lane waits for.
//!
//! Tiles are given out in the order in which blocks start, so that a block only waits for others that run or are done.

use bytemuck::Zeroable;
use gpu_std::{
    Atomic,
    prelude::{
        memory::SharedCells,
        warp::{LaneGroup, lane_index, warp},
    },
    sync, thread_rank,
};

use crate::{Element, Identity};

/// How many tiles are a group, and groups a chunk: as many as a warp has lanes.
const FAN: usize = 32;

/// The upper half of a word of state: nothing is published, a value, or that there will be none because a thread has panicked.
const VALUE: u64 = 1 << 32;
const POISON: u64 = 2 << 32;

/// The number of no tile.
const NO_TILE: u64 = u64::MAX;

/// So many times a lane asks for a value before it asks whether a thread has panicked, of which there is no other sign on a GPU.
#[cfg(target_arch = "nvptx64")]
const PATIENCE: u32 = 1 << 18;

/// The number of words that a value of so many bytes is published in.
const fn words(size: usize) -> usize {
    if size == 0 { 1 } else { size.div_ceil(4) }
}

/// The number of words of state for the prefixes of so many tiles, whose values have so many bytes. They are 0 before the launch.
///
/// ```
/// use gpukernel_algorithms_kernels::state_len;
///
/// assert_eq!(state_len(1, 4), 4);
/// assert_eq!(state_len(1025, 8), 1 + 2 * (1025 + 33 + 2));
/// ```
pub const fn state_len(tiles: usize, value_bytes: usize) -> usize {
    words(value_bytes).saturating_mul(slots(tiles)).saturating_add(1)
}

const fn slots(tiles: usize) -> usize {
    tiles.saturating_add(tiles.div_ceil(FAN)).saturating_add(tiles.div_ceil(FAN * FAN))
}

/// What a block tells its threads: the number of its tile, and whether the prefix has a value.
pub(crate) type Notes<'k> = SharedCells<'k, u64, 2>;

/// The state of a launch, seen by the block of a tile.
pub(crate) struct LookBack<'a> {
    /// A word per part of each slot: those of tiles, of groups and of chunks.
    words: &'a [Atomic<u64>],
    tiles: usize,
    /// The number of the tile.
    pub(crate) tile: usize,
}

impl<'a> LookBack<'a> {
    /// Takes the next tile. The number is that of no other block, whatever the state was.
    #[inline(always)]
    pub(crate) fn take(state: &'a [Atomic<u64>], tiles: usize, notes: &Notes<'_>) -> Self {
        if thread_rank() == 0 {
            // Of a state that is not 0, a number may be one that there is no tile of: positions in it must not be those of another.
            let ticket = state.first().map(|tickets| tickets.fetch_add(1));
            notes[0].store(ticket.filter(|ticket| *ticket < tiles as u64).unwrap_or(NO_TILE));
        }
        sync(());
        Self { words: state.get(1..).unwrap_or_default(), tiles, tile: notes[0].load() as usize }
    }

    /// Publishes the aggregate of the tile. Called by one thread of the block, as early as it can be: others wait for it.
    #[inline(always)]
    pub(crate) fn publish_aggregate<T: Element>(&self, aggregate: T) {
        self.publish(self.tile, Some(aggregate));
    }

    /// Returns the combination of `initial` and the aggregates of the tiles before this one, whose own is published, or `None` if a block has
    /// panicked. Called by all lanes of one warp of 32 of the block.
    #[inline(always)]
    pub(crate) fn prefix<T: Element, O: Identity<T>>(&self, aggregate: T, initial: T) -> Option<T> {
        let (operator, warp, lane) = (O::default(), warp(), lane_index() as usize);
        let combine = |a: T, b: T| operator.combine(a, b);
        let (group, in_group) = (self.tile / FAN, self.tile % FAN);
        let (chunk, in_chunk) = (group / FAN, group % FAN);
        let tile_slot = (lane < in_group).then_some(group * FAN + lane);
        let group_slot = (lane < in_chunk).then_some(self.group(chunk * FAN + lane));
        let chunk_slot = (chunk > 0).then(|| self.chunk(chunk.wrapping_sub(1)));
        // All three at once: one after the other, they would take three times as long to come from the L2 cache.
        let of_tile = self.look(tile_slot, O::IDENTITY);
        let of_group = self.look(group_slot, O::IDENTITY);
        let of_chunk = self.look(chunk_slot, initial);
        let found = self.wait(tile_slot, of_tile);
        let is_known = warp.all(found.is_some());
        let tiles = warp.reduce(found.unwrap_or(O::IDENTITY), combine);
        let ends_group = in_group == FAN - 1;
        if ends_group && lane == 0 {
            self.publish(self.group(group), is_known.then(|| combine(tiles, aggregate)));
        }
        let found = self.wait(group_slot, of_group);
        let start = self.wait(chunk_slot, of_chunk);
        let is_known = warp.all(found.is_some() && start.is_some() && is_known);
        let groups = warp.reduce(found.unwrap_or(O::IDENTITY), combine);
        let prefix = combine(start.unwrap_or(O::IDENTITY), combine(groups, tiles));
        if ends_group && in_chunk == FAN - 1 && lane == 0 {
            self.publish(self.chunk(chunk), is_known.then(|| combine(prefix, aggregate)));
        }
        is_known.then_some(prefix)
    }

    #[inline(always)]
    fn group(&self, group: usize) -> usize {
        self.tiles + group
    }

    #[inline(always)]
    fn chunk(&self, chunk: usize) -> usize {
        self.tiles + self.tiles.div_ceil(FAN) + chunk
    }

    #[inline(always)]
    fn publish<T: Element>(&self, slot: usize, value: Option<T>) {
        for word in 0..const { words(size_of::<T>()) } {
            let published = value.map_or(POISON, |value| VALUE | u64::from(word_of(value, word)));
            if let Some(place) = self.words.get(word * slots(self.tiles) + slot) {
                place.store(published);
            }
        }
    }

    /// Reads a slot once, of which the words may not all be there. No slot has the other value.
    #[inline(always)]
    fn look<T: Element>(&self, slot: Option<usize>, otherwise: T) -> Seen<T> {
        let Some(slot) = slot else { return Seen { value: otherwise, is_there: true, is_poison: false } };
        let mut seen = Seen { value: T::zeroed(), is_there: true, is_poison: false };
        for word in 0..const { words(size_of::<T>()) } {
            // Each word says itself whether it is there, so that nothing else has to be ordered.
            let found = self.words.get(word * slots(self.tiles) + slot).map_or(POISON, |place| place.load());
            seen.is_there &= found >= VALUE;
            seen.is_poison |= found >= POISON;
            set_word(&mut seen.value, word, found as u32);
        }
        seen
    }

    /// Waits until all words of a slot that was read once are there. `None` if there will be none.
    #[inline(always)]
    fn wait<T: Element>(&self, slot: Option<usize>, mut seen: Seen<T>) -> Option<T> {
        let mut polls = 0_u32;
        while !seen.is_there {
            polls = polls.wrapping_add(1);
            pause(polls);
            #[cfg(target_arch = "nvptx64")]
            if polls.is_multiple_of(PATIENCE) && gpu_std::has_panicked() {
                return None;
            }
            seen = self.look(slot, seen.value);
        }
        (!seen.is_poison).then_some(seen.value)
    }

    /// Publishes on unwinding that there will be no value of the tile, so that nobody waits for it: on the CPU device, where a panic unwinds.
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) fn poison_on_panic(&self) -> PoisonOnPanic<'_, 'a> {
        PoisonOnPanic(self)
    }

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(crate) fn poison_on_panic(&self) {}
}

/// What was read of a slot.
#[derive(Clone, Copy)]
struct Seen<T> {
    value: T,
    is_there: bool,
    is_poison: bool,
}

#[cfg(not(target_arch = "nvptx64"))]
pub(crate) struct PoisonOnPanic<'b, 'a>(&'b LookBack<'a>);

#[cfg(not(target_arch = "nvptx64"))]
impl Drop for PoisonOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let LookBack { tile, .. } = *self.0;
            let (group, chunk) = (tile / FAN, tile / (FAN * FAN));
            let mut slots = std::vec![tile];
            if tile % FAN == FAN - 1 {
                slots.push(self.0.group(group));
            }
            if tile % (FAN * FAN) == FAN * FAN - 1 {
                slots.push(self.0.chunk(chunk));
            }
            let all = self::slots(self.0.tiles);
            for slot in slots {
                // Of each value all words, however many they are.
                for place in self.0.words.iter().skip(slot).step_by(all.max(1)) {
                    let _ = place.compare_exchange(0, POISON);
                }
            }
        }
    }
}

/// Lets other threads of the machine run that this one waits for.
#[inline(always)]
pub(crate) fn pause(polls: u32) {
    #[cfg(not(target_arch = "nvptx64"))]
    if polls < 64 {
        core::hint::spin_loop()
    } else {
        std::thread::yield_now()
    }
    #[cfg(target_arch = "nvptx64")]
    let _ = polls;
}

/// A part of the bytes of a value.
#[inline(always)]
fn word_of<T: Element>(value: T, word: usize) -> u32 {
    let bytes = size_of::<T>();
    let from = (&raw const value).cast::<u8>();
    if 4 * word + 4 <= bytes {
        // SAFETY: four bytes of the value, which has no padding.
        return unsafe { from.add(4 * word).cast::<u32>().read_unaligned() };
    }
    let mut part = 0;
    for i in 4 * word..bytes {
        // SAFETY: a byte of the value.
        part |= u32::from(unsafe { *from.add(i) }) << (8 * (i % 4));
    }
    part
}

#[inline(always)]
fn set_word<T: Element>(value: &mut T, word: usize, part: u32) {
    let bytes = size_of::<T>();
    let to = core::ptr::from_mut(value).cast::<u8>();
    if 4 * word + 4 <= bytes {
        // SAFETY: four bytes of the value, any of which are one.
        unsafe { to.add(4 * word).cast::<u32>().write_unaligned(part) };
        return;
    }
    for i in 4 * word..bytes {
        // SAFETY: a byte of the value, which may be any.
        unsafe { *to.add(i) = (part >> (8 * (i % 4))) as u8 };
    }
}

/// The value in whose place nothing is, for blocks that have none.
#[inline(always)]
pub(crate) fn nothing<T: Zeroable>() -> T {
    T::zeroed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_published_by_words() {
        fn check<T: Element + PartialEq + core::fmt::Debug>(value: T) {
            let mut copy = T::zeroed();
            for word in 0..words(size_of::<T>()) {
                set_word(&mut copy, word, word_of(value, word));
            }
            assert_eq!(copy, value);
        }
        check(-7_i8);
        check(0x1234_u16);
        check(1.5_f64);
        check([1_u8, 2, 3, 4, 5, 6, 7]);
        check([1.0_f32, 2.0, 3.0]);
        check([0_u8; 0]);
    }
}
