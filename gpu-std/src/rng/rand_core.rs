//! The traits of the crate `rand_core`, for programs that use `rand`'s distributions.

use core::convert::Infallible;

use rand_core::{SeedableRng, TryRng, utils::fill_bytes_via_next_word};

use super::{Generator, Philox4x32, Xoroshiro128Plus, Xoshiro256PlusPlus};

macro_rules! rand_core {
    ($($generator:ident)*) => {$(
        impl TryRng for $generator {
            type Error = Infallible;

            #[inline]
            fn try_next_u32(&mut self) -> Result<u32, Infallible> {
                Ok(Generator::next_u32(self))
            }

            #[inline]
            fn try_next_u64(&mut self) -> Result<u64, Infallible> {
                Ok(Generator::next_u64(self))
            }

            #[inline]
            fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
                fill_bytes_via_next_word(bytes, || self.try_next_u64())
            }
        }
    )*};
}

rand_core! { Philox4x32 Xoroshiro128Plus Xoshiro256PlusPlus }

/// Reads words from bytes, little-endian.
fn words<const N: usize, const BYTES: usize>(bytes: [u8; BYTES]) -> [u64; N] {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

impl SeedableRng for Philox4x32 {
    type Seed = [u8; 8];

    fn from_seed(seed: [u8; 8]) -> Self {
        Self::new(u64::from_le_bytes(seed))
    }

    fn seed_from_u64(seed: u64) -> Self {
        Self::new(seed)
    }
}

/// A seed of zeros, which is not a valid state, is replaced by the state of seed 0.
impl SeedableRng for Xoroshiro128Plus {
    type Seed = [u8; 16];

    fn from_seed(seed: [u8; 16]) -> Self {
        Self::from_state(words(seed)).unwrap_or_else(|| Self::new(0))
    }

    fn seed_from_u64(seed: u64) -> Self {
        Self::new(seed)
    }
}

/// A seed of zeros, which is not a valid state, is replaced by the state of seed 0.
impl SeedableRng for Xoshiro256PlusPlus {
    type Seed = [u8; 32];

    fn from_seed(seed: [u8; 32]) -> Self {
        Self::from_state(words(seed)).unwrap_or_else(|| Self::new(0))
    }

    fn seed_from_u64(seed: u64) -> Self {
        Self::new(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<R: SeedableRng + TryRng<Error = Infallible> + Generator>() {
        let (mut rng, mut same) = (R::seed_from_u64(3), R::subsequence(3, 0));
        assert_eq!(rand_core::Rng::next_u32(&mut rng), Generator::next_u32(&mut same));
        assert_eq!(rand_core::Rng::next_u64(&mut rng), Generator::next_u64(&mut same));
        let mut bytes = [0; 11];
        rand_core::Rng::fill_bytes(&mut rng, &mut bytes);
        let [first, second] = [(); 2].map(|()| Generator::next_u64(&mut same).to_le_bytes());
        assert_eq!((&bytes[..8], &bytes[8..]), (&first[..], &second[..3]));
    }

    #[test]
    fn draws_are_the_same_by_either_trait() {
        check::<Philox4x32>();
        check::<Xoroshiro128Plus>();
        check::<Xoshiro256PlusPlus>();
    }

    #[test]
    fn seeds_of_bytes_are_states() {
        let rng = Xoroshiro128Plus::from_seed(0x02_0000_0000_0000_0001_u128.to_le_bytes());
        assert_eq!(rng.state(), [1, 2]);
        assert_eq!(Xoroshiro128Plus::from_seed([0; 16]), Xoroshiro128Plus::new(0));
        assert_eq!(Xoshiro256PlusPlus::from_seed([0; 32]), Xoshiro256PlusPlus::new(0));
    }
}
