//! xoshiro256++ (Blackman and Vigna 2019), seeded as its authors recommend.

mod jumps;

use super::{Generator, split_mix64::SplitMix64};
use crate::DeviceCopy;
use jumps::{JUMPS, LONG_JUMP};

/// The generator xoshiro256++: 32 bytes, of period 2²⁵⁶ − 1, with subsequences 2¹²⁸ draws apart.
///
/// ```
/// use gpu_std::rng::{Generator, Xoshiro256PlusPlus};
///
/// let mut rng = Xoshiro256PlusPlus::from_state([1, 2, 3, 4]).ok_or("all zeros")?;
/// assert_eq!(rng.next_u64(), 41_943_041);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceCopy)]
#[repr(C, align(16))]
pub struct Xoshiro256PlusPlus {
    state: [u64; 4],
}

impl Xoshiro256PlusPlus {
    /// Creates a generator from a seed, at the start of its first subsequence.
    #[inline]
    pub fn new(seed: u64) -> Self {
        let mut words = SplitMix64(seed);
        // Four words of SplitMix64 are never all 0.
        Self { state: [(); 4].map(|()| words.next()) }
    }

    /// Restores a generator from the result of [`state`](Self::state). `None` if all words are zero, a state that yields only zeros.
    #[inline]
    pub fn from_state(state: [u64; 4]) -> Option<Self> {
        (state != [0; 4]).then_some(Self { state })
    }

    /// Returns the state, from which [`from_state`](Self::from_state) restores the generator.
    #[inline]
    pub fn state(&self) -> [u64; 4] {
        self.state
    }

    /// Advances to the next subsequence, by 2¹²⁸ draws (`skipahead_sequence`).
    #[doc(alias = "skipahead", alias = "skipahead_sequence")]
    #[inline]
    pub fn jump(&mut self) {
        self.apply(JUMPS[0][0]);
    }

    /// Advances by `count` subsequences. Takes the time of one [`jump`](Self::jump) for each nonzero hexadecimal digit of `count`.
    #[doc(alias = "skipahead_sequence")]
    #[inline]
    pub fn jump_by(&mut self, mut count: u64) {
        for jumps in &JUMPS {
            if count == 0 {
                break;
            }
            let digit = (count % 16) as usize;
            if digit > 0 {
                self.apply(jumps[digit - 1]);
            }
            count /= 16;
        }
    }

    /// Advances by 2⁶⁴ subsequences, by 2¹⁹² draws. For programs on several machines that each number subsequences from 0.
    #[inline]
    pub fn long_jump(&mut self) {
        self.apply(LONG_JUMP);
    }

    /// Advances by the number of draws that the polynomial stands for. A draw is a linear map of the bits of the state; the polynomial
    /// is that power of x, modulo the characteristic polynomial of the map.
    fn apply(&mut self, [low, high]: [u128; 2]) {
        let mut sum = [0; 4];
        // Not a loop: the coefficients are to stay in registers.
        self.add_powers(&mut sum, low as u64);
        self.add_powers(&mut sum, (low >> 64) as u64);
        self.add_powers(&mut sum, high as u64);
        self.add_powers(&mut sum, (high >> 64) as u64);
        self.state = sum;
    }

    /// Makes 64 draws and adds the states that the coefficients select.
    #[inline]
    fn add_powers(&mut self, sum: &mut [u64; 4], mut coefficients: u64) {
        for _ in 0..64 {
            let chosen = (coefficients & 1).wrapping_neg();
            sum[0] ^= self.state[0] & chosen;
            sum[1] ^= self.state[1] & chosen;
            sum[2] ^= self.state[2] & chosen;
            sum[3] ^= self.state[3] & chosen;
            coefficients >>= 1;
            self.next_u64();
        }
    }
}

impl Generator for Xoshiro256PlusPlus {
    #[inline]
    fn subsequence(seed: u64, index: u64) -> Self {
        let mut rng = Self::new(seed);
        rng.jump_by(index);
        rng
    }

    /// The upper half of 64 bits.
    #[inline]
    fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    #[inline]
    fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = self.state;
        let (mixed2, mixed3) = (s2 ^ s0, s3 ^ s1);
        self.state = [s0 ^ mixed3, s1 ^ mixed2, mixed2 ^ s1 << 17, mixed3.rotate_left(45)];
        s0.wrapping_add(s3).rotate_left(23).wrapping_add(s0)
    }
}

#[cfg(test)]
mod tests;
