//! xoroshiro128+ as of 2016 (Blackman and Vigna; rotations 55, 14, 36), seeded and split as Numba's CUDA target does.

mod jumps;

use super::{Generator, split_mix64::SplitMix64};
use crate::DeviceCopy;
use jumps::JUMPS;

/// The generator xoroshiro128+: 16 bytes, of period 2¹²⁸ − 1, with subsequences 2⁶⁴ draws apart.
///
/// It draws the numbers of Numba's `create_xoroshiro128p_states(n, seed, subsequence_start)`: thread `i` there has the state
/// `subsequence(seed, subsequence_start + i)` here, and Numba's functions are [`uniform_rounded`](Generator::uniform_rounded),
/// [`uniform::<f64>`](Generator::uniform) and [`normal::<f32>`](Generator::normal).
///
/// The lowest bits are weaker than the others; `next_u32` and all distributions use the upper ones.
///
/// ```
/// use gpu_std::rng::{Generator, Xoroshiro128Plus};
///
/// let mut rng = Xoroshiro128Plus::subsequence(1, 2);
/// assert_eq!(rng.next_u64(), 0xdeff_d015_7988_eac6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceCopy)]
#[repr(C, align(16))]
pub struct Xoroshiro128Plus {
    state: [u64; 2],
}

impl Xoroshiro128Plus {
    /// Creates a generator from a seed, at the start of its first subsequence.
    #[inline]
    pub fn new(seed: u64) -> Self {
        // Both words are the same, because Numba has them so.
        Self { state: [SplitMix64(seed).next(); 2] }
    }

    /// Restores a generator from the result of [`state`](Self::state). `None` if all words are zero, a state that yields only zeros.
    #[inline]
    pub fn from_state(state: [u64; 2]) -> Option<Self> {
        (state != [0; 2]).then_some(Self { state })
    }

    /// Returns the state, from which [`from_state`](Self::from_state) restores the generator.
    #[inline]
    pub fn state(&self) -> [u64; 2] {
        self.state
    }

    /// Advances to the next subsequence, by 2⁶⁴ draws (`skipahead_sequence`, `xoroshiro128p_jump`).
    #[doc(alias = "skipahead", alias = "skipahead_sequence", alias = "xoroshiro128p_jump")]
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

    /// Advances by the number of draws that the polynomial stands for. A draw is a linear map of the bits of the state; the polynomial
    /// is that power of x, modulo the characteristic polynomial of the map.
    fn apply(&mut self, polynomial: u128) {
        let mut sum = [0; 2];
        for mut coefficients in [polynomial as u64, (polynomial >> 64) as u64] {
            for _ in 0..64 {
                let chosen = (coefficients & 1).wrapping_neg();
                sum[0] ^= self.state[0] & chosen;
                sum[1] ^= self.state[1] & chosen;
                coefficients >>= 1;
                self.next_u64();
            }
        }
        self.state = sum;
    }
}

impl Generator for Xoroshiro128Plus {
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
        let [s0, s1] = self.state;
        let mixed = s0 ^ s1;
        self.state = [s0.rotate_left(55) ^ mixed ^ mixed << 14, mixed.rotate_left(36)];
        s0.wrapping_add(s1)
    }
}

#[cfg(test)]
mod tests;
