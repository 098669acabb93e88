//! xoroshiro128+ as of 2016 (Blackman and Vigna; rotations 55, 14, 36), seeded and split as Numba's CUDA target does.

mod jumps;

use super::{Generator, split_mix64::SplitMix64};
use crate::DeviceCopy;
use jumps::JUMPS;

/// The generator xoroshiro128+: 16 bytes, of period 2¹²⁸ − 1, with subsequences 2⁶⁴ draws apart.
///
/// It draws the numbers of Numba's `create_xoroshiro128p_states(n, seed, subsequence_start)`: thread `i` there has the state
/// `subsequence(seed, subsequence_start + i)` here, [`uniform_rounded`](Generator::uniform_rounded),
/// [`uniform::<f64>`](Generator::uniform) and [`normal::<f32>`](Generator::normal) are its functions.
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
    /// The generator of a seed, at the start of its first subsequence.
    #[inline]
    pub fn new(seed: u64) -> Self {
        // Both words are the same, because Numba has them so.
        Self { state: [SplitMix64(seed).next(); 2] }
    }

    /// The generator in a state that [`state`](Self::state) gave. `None` for two zeros, after which nothing else would come.
    #[inline]
    pub fn from_state(state: [u64; 2]) -> Option<Self> {
        (state != [0; 2]).then_some(Self { state })
    }

    /// What all following draws depend on.
    #[inline]
    pub fn state(&self) -> [u64; 2] {
        self.state
    }

    /// Goes to the next subsequence: as 2⁶⁴ draws do.
    #[inline]
    pub fn jump(&mut self) {
        self.apply(JUMPS[0][0]);
    }

    /// Goes `count` subsequences on. Takes as long as a jump for each hexadecimal digit of `count` that is not 0.
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

    /// Goes as many draws on as the polynomial says: a draw is a linear map of the bits of the state, and the polynomial is
    /// the remainder of that power of the map by the polynomial of which the map is a root.
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
