//! Random numbers: each generator's states and draws, and distributions. The functions are called on the host too.

use gpu_std::{
    prelude::*,
    rng::{Generator, Philox4x32, Xoroshiro128Plus, Xoshiro256PlusPlus},
};
use rand::RngExt;

/// What has the same bits on every device.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C)]
pub struct Draws {
    /// 64 bits.
    pub bits: u64,
    /// 32 bits.
    pub word: u32,
    /// A uniform number.
    pub uniform_f32: f32,
    /// A uniform number.
    pub uniform_f64: f64,
    /// Numba's uniform number.
    pub rounded: f32,
    /// One of six integers.
    pub die: i32,
    /// One of many integers.
    pub far: i64,
}

impl Draws {
    /// Draws one of each.
    pub fn from(rng: &mut impl Generator) -> Self {
        Self {
            bits: rng.next_u64(),
            word: rng.next_u32(),
            uniform_f32: rng.uniform(),
            uniform_f64: rng.uniform(),
            rounded: rng.uniform_rounded(),
            die: rng.range(1..=6),
            far: rng.range(-5_000_000_000_000_000_000..4_000_000_000_000_000_000),
        }
    }
}

macro_rules! generator {
    ($generator:ident, $make:ident, $draw:ident) => {
        /// Makes one state per thread of consecutive subsequences.
        #[kernel]
        pub fn $make(seed: u64, first: u64, states: PerThread<$generator>) {
            for (i, state) in states {
                *state = $generator::subsequence(seed, first + i as u64);
            }
        }

        /// Draws from states, which are one draw further afterwards.
        #[kernel]
        pub fn $draw(mut states: PerThread<$generator>, draws: PerThread<Draws>) {
            for (i, draws) in draws {
                if let Some(state) = states.get_mut(i) {
                    *draws = Draws::from(state);
                }
            }
        }
    };
}

generator!(Xoroshiro128Plus, make_xoroshiro128_plus, draw_xoroshiro128_plus);
generator!(Xoshiro256PlusPlus, make_xoshiro256_plus_plus, draw_xoshiro256_plus_plus);
generator!(Philox4x32, make_philox4x32, draw_philox4x32);

/// Skips a number of words of Philox that differs from thread to thread, and draws.
#[kernel]
pub fn skip_philox4x32(seed: u64, step: u64, words: PerThread<u32>) {
    for (i, word) in words {
        let mut rng = Philox4x32::new(seed);
        rng.next_u32();
        rng.skip(step * i as u64);
        *word = rng.next_u32();
    }
}

macro_rules! distributions {
    ($t:ident, $kernel:ident, $function:ident) => {
        /// A pair of normal numbers, a single one, a log-normal and an exponential one.
        pub fn $function(seed: u64, index: u64) -> [$t; 5] {
            let mut rng = Xoroshiro128Plus::subsequence(seed, index);
            let (first, second) = rng.normal_pair();
            [first, second, rng.normal(), rng.log_normal(0.5, 0.25), rng.exponential(2.0)]
        }

        /// The function for every thread.
        #[kernel]
        pub fn $kernel(seed: u64, numbers: PerThread<[$t; 5]>) {
            for (i, numbers) in numbers {
                *numbers = $function(seed, i as u64);
            }
        }
    };
}

distributions!(f32, distributions_f32, distributed_f32);
distributions!(f64, distributions_f64, distributed_f64);

/// Numbers of the Poisson distribution.
#[kernel]
pub fn poisson(seed: u64, mean: f64, numbers: PerThread<u64>) {
    for (i, number) in numbers {
        *number = Xoshiro256PlusPlus::subsequence(seed, i as u64).poisson(mean);
    }
}

/// What the crate `rand` draws from a generator: a number, an integer of a range, and a coin.
pub fn with_rand(seed: u64, index: u64) -> (f64, i16, bool) {
    let mut rng = Philox4x32::subsequence(seed, index);
    (rng.random(), rng.random_range(-300..300), rng.random_bool(0.25))
}

/// The function for every thread.
#[kernel]
pub fn rand_draws(seed: u64, numbers: PerThread<f64>, integers: PerThread<i16>, coins: PerThread<bool>) {
    for (i, number) in numbers {
        *number = with_rand(seed, i as u64).0;
    }
    for (i, integer) in integers {
        *integer = with_rand(seed, i as u64).1;
    }
    for (i, coin) in coins {
        *coin = with_rand(seed, i as u64).2;
    }
}
