//! Block-wide radix sort (CUB's `BlockRadixSort`), four bits at a time from the lowest, and the ranking by digits that it
//! consists of.

use core::{fmt, marker::PhantomData, ops::Range};

use bytemuck::{AnyBitPattern, Zeroable};

use super::sort_key::SortKey;
use crate::{
    DeviceCopy,
    shared::{KernelScope, SharedParam},
    signature::Text,
    threads_per_block,
    warp::WarpElement,
};

/// The number of bits of a digit.
const DIGIT_BITS: u32 = 4;

/// Shared memory for block-wide radix sorts of `ITEMS` keys in each of `THREADS` threads, with values of type `V` (CUB's
/// `BlockRadixSort` and its `TempStorage`): a parameter of a kernel, for which the launch passes nothing.
///
/// Keys are in a blocked arrangement: in the order of the threads, those of one thread adjacent; so are the results. All
/// threads of the block must reach each call; barriers are inside. The sort is stable.
///
/// It takes 36 bytes per thread, 4 or 8 bytes per key, and the size of the values.
///
/// ```
/// use gpu_std::prelude::{*, collective::*};
///
/// /// Sorts each 1024 elements.
/// #[kernel(block = 256)]
/// pub fn sort_each_1024(x: &[[f32; 4]], mut scratch: SortScratch<f32, 256, 4>, mut y: PerThread<[f32; 4]>) {
///     // Missing elements are sorted to the end.
///     let keys = x.get(global_rank()).copied().unwrap_or([f32::INFINITY; 4]);
///     let sorted = scratch.sort(keys);
///     if let Some((_, y)) = y.first_mut() {
///         *y = sorted;
///     }
/// }
/// ```
///
/// # Panics
/// All methods panic if the block does not have `THREADS` threads. With `block` in the kernel's contract that is checked at
/// the launch and costs nothing.
#[doc(alias = "BlockRadixSort", alias = "TempStorage")]
pub struct SortScratch<'k, K, const THREADS: usize, const ITEMS: usize, V = ()> {
    start: *mut ScratchUnit,
    scope: PhantomData<&'k mut [(K, V)]>,
}

/// A unit of the storage, aligned so that several keys are loaded at once.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct ScratchUnit([u8; 16]);

// SAFETY: bytes.
unsafe impl Zeroable for ScratchUnit {}
// SAFETY: bytes.
unsafe impl AnyBitPattern for ScratchUnit {}
// SAFETY: bytes.
#[diagnostic::do_not_recommend]
unsafe impl DeviceCopy for ScratchUnit {
    const TYPE: Text = Text::Word("gpu_std::collective::ScratchUnit");
    const ANY_BYTES: bool = true;
}

impl<K: SortKey, const THREADS: usize, const ITEMS: usize, V: WarpElement>
    SortScratch<'_, K, THREADS, ITEMS, V>
{
    /// Sorts keys in ascending order (CUB's `BlockRadixSort::Sort`).
    #[doc(alias = "BlockRadixSort", alias = "BlockRadixSort::Sort")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn sort(&mut self, keys: [K; ITEMS]) -> [K; ITEMS] {
        self.sort_bits(keys, 0..K::BITS)
    }

    /// Sorts keys in descending order (CUB's `BlockRadixSort::SortDescending`).
    #[doc(alias = "SortDescending", alias = "BlockRadixSort")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn sort_descending(&mut self, keys: [K; ITEMS]) -> [K; ITEMS] {
        let words = self.sort_words(keys.map(|key| K::flip(key.to_word())), [(); ITEMS], 0..K::BITS).0;
        words.map(|word| K::from_word(K::flip(word)))
    }

    /// Sorts keys by a range of their bits (CUB's `begin_bit` and `end_bit`), which is faster if the keys are equal in the
    /// other bits. Bits are counted from the lowest of the key as an ordered word: for unsigned integers those of the key
    /// itself.
    ///
    /// # Panics
    /// If a key does not have these bits.
    #[doc(alias = "begin_bit", alias = "end_bit")]
    #[doc(alias = "BlockRadixSort")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn sort_bits(&mut self, keys: [K; ITEMS], bits: Range<u32>) -> [K; ITEMS] {
        assert!(bits.end <= K::BITS, "keys have less bits than the range says");
        let words = self.sort_words(keys.map(K::to_word), [(); ITEMS], bits).0;
        words.map(K::from_word)
    }

    /// Sorts keys in ascending order, and puts the values in the same order (CUB's `BlockRadixSort::Sort` with values).
    ///
    /// ```
    /// use gpu_std::prelude::{*, collective::*};
    ///
    /// /// The permutation that sorts each 128 elements.
    /// #[kernel(block = 128)]
    /// pub fn order(x: &[i32], mut scratch: SortScratch<i32, 128, 1, u32>, mut y: PerThread<u32>) {
    ///     let key = x.get(global_rank()).copied().unwrap_or(i32::MAX);
    ///     let (_, [from]) = scratch.sort_pairs([key], [thread_rank()]);
    ///     if let Some((_, y)) = y.first_mut() {
    ///         *y = from;
    ///     }
    /// }
    /// ```
    #[doc(alias = "BlockRadixSort")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn sort_pairs(&mut self, keys: [K; ITEMS], values: [V; ITEMS]) -> ([K; ITEMS], [V; ITEMS]) {
        let (words, values) = self.sort_words(keys.map(K::to_word), values, 0..K::BITS);
        (words.map(K::from_word), values)
    }

    /// Sorts keys in descending order, and puts the values in the same order (CUB's `BlockRadixSort::SortDescending` with
    /// values).
    #[doc(alias = "SortDescending", alias = "BlockRadixSort")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn sort_pairs_descending(
        &mut self,
        keys: [K; ITEMS],
        values: [V; ITEMS],
    ) -> ([K; ITEMS], [V; ITEMS]) {
        let words = keys.map(|key| K::flip(key.to_word()));
        let (words, values) = self.sort_words(words, values, 0..K::BITS);
        (words.map(|word| K::from_word(K::flip(word))), values)
    }

    /// Returns the rank of each digit in the block: the number of digits that are less, or equal and before it (CUB's
    /// `BlockRadixRank`). Only the lowest four bits of a digit count.
    #[doc(alias = "BlockRadixRank")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn rank_digits(&mut self, digits: [u32; ITEMS]) -> [u32; ITEMS] {
        self.check_block();
        self.rank(digits.map(|digit| digit % (1 << DIGIT_BITS)))
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn check_block(&self) {
        assert!(threads_per_block() as usize == THREADS, "a `SortScratch` for another number of threads");
    }
}

/// The offsets of the parts of the storage, in pieces.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "nvptx64"), allow(dead_code))]
struct Places {
    slots: usize,
    keys: usize,
    values: usize,
    end: usize,
}

impl<K: SortKey, const THREADS: usize, const ITEMS: usize, V: WarpElement>
    SortScratch<'_, K, THREADS, ITEMS, V>
{
    /// The number of words of each thread's counters: two counters per word, and one word more. An odd number, so that threads
    /// which each read this number of consecutive words have no bank conflicts.
    const WORDS: usize = (1 << (DIGIT_BITS - 1)) + 1;

    const PLACES: Places = {
        assert!(
            THREADS >= 1 && THREADS <= gpukernel_abi::limits::THREADS_PER_BLOCK as usize,
            "a block has 1 to 1024 threads"
        );
        assert!(ITEMS >= 1, "nothing to sort");
        assert!(THREADS * ITEMS < 1 << 16, "a block sorts less than 65536 keys");
        let slots = (4 * Self::WORDS * THREADS).div_ceil(16);
        let keys = slots + (4 * super::scratch::MAX_WARPS).div_ceil(16);
        let values = keys + (size_of::<K::Word>() * THREADS * ITEMS).div_ceil(16);
        let end = values + (size_of::<V>() * THREADS * ITEMS).div_ceil(16);
        assert!(align_of::<V>() <= 16, "values have alignments of at most 16 bytes");
        Places { slots, keys, values, end }
    };
}

impl<K, const THREADS: usize, const ITEMS: usize, V> fmt::Debug for SortScratch<'_, K, THREADS, ITEMS, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortScratch")
            .field("threads", &THREADS)
            .field("items", &ITEMS)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ScratchUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScratchUnit").finish_non_exhaustive()
    }
}

// SAFETY: only this module uses the storage, with barriers where it passes from thread to thread.
unsafe impl<'k, K: SortKey, const THREADS: usize, const ITEMS: usize, V: WarpElement> SharedParam<'k>
    for SortScratch<'k, K, THREADS, ITEMS, V>
{
    type Element = ScratchUnit;
    const LEN: usize = SortScratch::<'static, K, THREADS, ITEMS, V>::PLACES.end;

    #[inline(always)]
    unsafe fn enter(storage: *mut ScratchUnit, _: &'k KernelScope) -> Self {
        Self { start: storage, scope: PhantomData }
    }
}

#[cfg(target_arch = "nvptx64")]
// Loops over indices are unrolled before arrays become registers; iterators of arrays are not.
#[allow(clippy::needless_range_loop)]
mod device {
    use core::ops::Range;

    use super::{DIGIT_BITS, SortKey, SortScratch};
    use crate::{
        collective::{Sum, scan, sort_key::Word},
        sync, thread_rank,
        warp::WarpElement,
    };

    impl<K: SortKey, const THREADS: usize, const ITEMS: usize, V: WarpElement>
        SortScratch<'_, K, THREADS, ITEMS, V>
    {
        /// Sorts by digits, the lowest first, each pass stable.
        #[inline(always)]
        pub(super) fn sort_words<U: WarpElement>(
            &mut self,
            mut words: [K::Word; ITEMS],
            mut values: [U; ITEMS],
            bits: Range<u32>,
        ) -> ([K::Word; ITEMS], [U; ITEMS]) {
            self.check_block();
            let keys = self.start.wrapping_add(Self::PLACES.keys).cast::<K::Word>();
            // `V` has room there, or `U` has no size.
            let beside = self.start.wrapping_add(Self::PLACES.values).cast::<U>();
            let first = thread_rank() as usize * ITEMS;
            let mut shift = bits.start;
            while shift < bits.end {
                let count = DIGIT_BITS.min(bits.end - shift);
                let ranks = self.rank(words.map(|word| word.digit(shift, count)));
                for k in 0..ITEMS {
                    // Already less, unless a thread panicked and left its counters as they were: an out-of-bounds write would
                    // lose the context.
                    let rank = (ranks[k] as usize).min(THREADS * ITEMS - 1);
                    // SAFETY: the place is one of the keys', and each comes once. What was there was read before the barriers in
                    // `rank`.
                    unsafe {
                        keys.add(rank).write(words[k]);
                        beside.add(rank).write(values[k]);
                    }
                }
                sync(());
                for k in 0..ITEMS {
                    // SAFETY: all were written before the barrier.
                    unsafe {
                        words[k] = *keys.add(first + k);
                        values[k] = *beside.add(first + k);
                    }
                }
                shift += DIGIT_BITS;
            }
            (words, values)
        }

        /// Returns the ranks of digits.
        ///
        /// Each thread counts its own digits, one counter per digit; a scan over the counters, ordered by digit and then by
        /// thread, gives for each the number of keys before the first of that thread and digit. Digits `d` and `d + 8` share
        /// a word, so that the scan adds two at a time.
        #[inline(always)]
        pub(super) fn rank(&mut self, digits: [u32; ITEMS]) -> [u32; ITEMS] {
            const LOW: u32 = (1 << (DIGIT_BITS - 1)) - 1;
            let counters = self.start.cast::<u32>();
            let halves = counters.cast::<u16>();
            let thread = thread_rank() as usize;
            for row in 0..Self::WORDS {
                // SAFETY: this thread's counter of the row, which nobody else uses since the last barrier below.
                unsafe { counters.add(row * THREADS + thread).write(0) };
            }
            let mut places = [0; ITEMS];
            let mut ranks = [0; ITEMS];
            for k in 0..ITEMS {
                let (row, half) = (digits[k] & LOW, digits[k] >> (DIGIT_BITS - 1));
                places[k] = 2 * (row as usize * THREADS + thread) + half as usize;
                // SAFETY: in one of this thread's counters.
                let count = unsafe { halves.add(places[k]) };
                // SAFETY: as above.
                unsafe {
                    ranks[k] = u32::from(*count);
                    *count += 1;
                }
            }
            sync(());
            let segment = counters.wrapping_add(Self::WORDS * thread);
            let mut sum = 0;
            for k in 0..Self::WORDS {
                // SAFETY: as many words as there are threads times words per thread; between these barriers they belong to the
                // threads in this way.
                sum += unsafe { *segment.add(k) };
            }
            let slots = self.start.wrapping_add(Self::PLACES.slots).cast::<u32>();
            // SAFETY: a slot per warp, for this only; between two scans there are the barriers around this one.
            let (before, total) = unsafe { scan::exclusive_in(slots, sum, &Sum) };
            // The digits in the upper halves come after all in the lower halves.
            let mut before = before.unwrap_or(0) + (total << 16);
            for k in 0..Self::WORDS {
                // SAFETY: as above.
                unsafe {
                    let counter = segment.add(k);
                    let count = *counter;
                    *counter = before;
                    before += count;
                }
            }
            sync(());
            for k in 0..ITEMS {
                // SAFETY: in one of this thread's counters.
                ranks[k] += u32::from(unsafe { *halves.add(places[k]) });
            }
            ranks
        }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use core::ops::Range;
    use std::vec::Vec;

    use super::{SortKey, SortScratch};
    use crate::{
        collective::{cpu::meet, sort_key::Word},
        warp::WarpElement,
    };

    impl<K: SortKey, const THREADS: usize, const ITEMS: usize, V: WarpElement>
        SortScratch<'_, K, THREADS, ITEMS, V>
    {
        #[track_caller]
        pub(super) fn sort_words<U: WarpElement>(
            &mut self,
            words: [K::Word; ITEMS],
            values: [U; ITEMS],
            bits: Range<u32>,
        ) -> ([K::Word; ITEMS], [U; ITEMS]) {
            self.check_block();
            let mask = if bits.is_empty() { 0 } else { u64::MAX >> (64 - bits.len()) };
            meet("a sort", self.start, (words, values), |all| {
                let mut pairs: Vec<_> = all
                    .iter()
                    .flat_map(|(words, values)| words.iter().copied().zip(values.iter().copied()))
                    .collect();
                pairs.sort_by_key(|(word, _)| word.bits() >> bits.start & mask);
                let mut pairs = pairs.into_iter();
                for (words, values) in all.iter_mut().map(|both| &mut **both) {
                    for ((word, value), pair) in words.iter_mut().zip(values).zip(&mut pairs) {
                        (*word, *value) = pair;
                    }
                }
            })
        }

        #[track_caller]
        pub(super) fn rank(&mut self, digits: [u32; ITEMS]) -> [u32; ITEMS] {
            meet("a ranking", self.start, digits, |all| {
                let mut order: Vec<(usize, usize)> =
                    (0..all.len()).flat_map(|thread| (0..ITEMS).map(move |k| (thread, k))).collect();
                order.sort_by_key(|&(thread, k)| all[thread][k]);
                for (rank, (thread, k)) in order.into_iter().enumerate() {
                    all[thread][k] = rank as u32;
                }
            })
        }
    }
}
