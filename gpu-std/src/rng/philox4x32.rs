//! Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011): a counter-based generator.

use super::Generator;
use crate::DeviceCopy;

/// The generator Philox4x32-10 (`curandStatePhilox4_32_10_t`), counter-based: four 32-bit words are a function of a 128-bit counter and
/// a 64-bit key.
///
/// The key is the seed. The upper half of the counter is the index of the subsequence, the lower half counts groups of four
/// words within it; 64 bits are drawn as two words, the lower half first. Creating a state therefore costs nothing, and any draw can be
/// reached directly by [`skip`](Self::skip), or without a state by [`block`](Self::block).
///
/// ```
/// use gpu_std::rng::{Generator, Philox4x32};
///
/// let mut rng = Philox4x32::subsequence(1, 7);
/// rng.skip(10);
/// assert_eq!(rng.next_u32(), Philox4x32::block([2, 0, 7, 0], [1, 0])[2]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceCopy)]
#[repr(C)]
#[doc(alias = "curandStatePhilox4_32_10_t")]
pub struct Philox4x32 {
    /// The counter of the next four words.
    counter: u128,
    /// The current four words, and how many of them have been drawn.
    words: [u32; 4],
    drawn: u64,
    key: u64,
}

impl Philox4x32 {
    /// Creates a generator from a seed, at the start of its first subsequence.
    #[inline]
    pub fn new(seed: u64) -> Self {
        Self::from_counter(0, seed)
    }

    /// Creates a generator with a key, positioned at the words of a counter.
    #[inline]
    pub fn from_counter(counter: u128, key: u64) -> Self {
        Self { counter, words: [0; 4], drawn: 4, key }
    }

    /// Skips `words` 32-bit words (`skipahead`).
    ///
    /// ```
    /// use gpu_std::rng::{Generator, Philox4x32};
    ///
    /// let (mut rng, mut same) = (Philox4x32::new(1), Philox4x32::new(1));
    /// rng.skip(2);
    /// same.next_u64();
    /// assert_eq!(rng.next_u32(), same.next_u32());
    /// ```
    #[doc(alias = "skipahead", alias = "advance")]
    #[inline]
    pub fn skip(&mut self, words: u64) {
        let left = 4 - self.drawn;
        if words <= left {
            self.drawn += words;
            return;
        }
        let beyond = words - left;
        self.counter = self.counter.wrapping_add(u128::from(beyond / 4));
        self.drawn = 4;
        let drawn = beyond % 4;
        if drawn > 0 {
            self.next_block();
            self.drawn = drawn;
        }
    }

    /// Draws the next four words at once (`curand4`), discarding the rest of the current four.
    #[doc(alias = "curand4")]
    #[inline]
    pub fn next_block(&mut self) -> [u32; 4] {
        let (counter, key) = (self.counter, self.key);
        self.words = Self::block(
            [counter as u32, (counter >> 32) as u32, (counter >> 64) as u32, (counter >> 96) as u32],
            [key as u32, (key >> 32) as u32],
        );
        self.counter = counter.wrapping_add(1);
        self.drawn = 4;
        self.words
    }

    /// The four words of a counter and a key: Random123's `philox4x32` with 10 rounds, lowest words first.
    #[inline]
    pub fn block(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
        const FACTORS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
        const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

        let ([mut c0, mut c1, mut c2, mut c3], [mut k0, mut k1]) = (counter, key);
        for _ in 0..10 {
            let a = u64::from(FACTORS[0]) * u64::from(c0);
            let b = u64::from(FACTORS[1]) * u64::from(c2);
            (c0, c1, c2, c3) = ((b >> 32) as u32 ^ c1 ^ k0, b as u32, (a >> 32) as u32 ^ c3 ^ k1, a as u32);
            (k0, k1) = (k0.wrapping_add(WEYL[0]), k1.wrapping_add(WEYL[1]));
        }
        [c0, c1, c2, c3]
    }
}

impl Generator for Philox4x32 {
    #[inline]
    fn subsequence(seed: u64, index: u64) -> Self {
        Self::from_counter(u128::from(index) << 64, seed)
    }

    #[inline]
    fn next_u32(&mut self) -> u32 {
        if self.drawn == 4 {
            self.next_block();
            self.drawn = 0;
        }
        self.drawn += 1;
        // No index, for which the words would have to be in memory.
        let [first, second, third, fourth] = self.words;
        match self.drawn {
            1 => first,
            2 => second,
            3 => third,
            _ => fourth,
        }
    }

    #[inline]
    fn next_u64(&mut self) -> u64 {
        let low = self.next_u32();
        u64::from(low) | u64::from(self.next_u32()) << 32
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::{Generator, Philox4x32};

    /// The lines "philox4x32 10" of Random123's `kat_vectors`.
    #[test]
    fn words_are_those_of_random123() {
        let zeros = Philox4x32::block([0; 4], [0; 2]);
        assert_eq!(zeros, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = Philox4x32::block([u32::MAX; 4], [u32::MAX; 2]);
        assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let digits_of_pi = Philox4x32::block(
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
        );
        assert_eq!(digits_of_pi, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }

    #[test]
    fn draws_are_the_words_of_one_counter_after_another() {
        let mut rng = Philox4x32::subsequence(0x1234_5678_9abc_def0, 3);
        for counter in 0..5 {
            let words = Philox4x32::block([counter, 0, 3, 0], [0x9abc_def0, 0x1234_5678]);
            assert_eq!([(); 4].map(|()| rng.next_u32()), words);
        }
    }

    #[test]
    fn skipped_words_are_those_that_would_have_been_drawn() {
        let words: Vec<u32> = {
            let mut rng = Philox4x32::new(9);
            (0..64).map(|_| rng.next_u32()).collect()
        };
        for drawn in 0..9 {
            for skipped in 0..30 {
                let mut rng = Philox4x32::new(9);
                (0..drawn).for_each(|_| _ = rng.next_u32());
                rng.skip(skipped);
                let place = drawn + skipped as usize;
                assert_eq!([rng.next_u32(), rng.next_u32()], words[place..place + 2], "{drawn} {skipped}");
            }
        }
    }

    #[test]
    fn blocks_start_with_a_new_counter() {
        let mut rng = Philox4x32::new(9);
        rng.next_u32();
        assert_eq!(rng.next_block(), Philox4x32::block([1, 0, 0, 0], [9, 0]));
        assert_eq!(rng.next_u32(), Philox4x32::block([2, 0, 0, 0], [9, 0])[0]);
    }

    #[test]
    fn after_the_last_counter_comes_the_first() {
        let mut rng = Philox4x32::from_counter(u128::MAX, 1);
        assert_eq!(rng.next_block(), Philox4x32::block([u32::MAX; 4], [1, 0]));
        assert_eq!(rng.next_block(), Philox4x32::block([0; 4], [1, 0]));
    }
}
