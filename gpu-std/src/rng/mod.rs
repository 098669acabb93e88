//! Random number generators and distributions (cuRAND's device API): the state of a generator is a plain value.
//!
//! Each thread has its own state, in a local variable or in its element of a buffer (`PerThread<Xoroshiro128Plus>`). Threads draw from
//! different *subsequences* of one seed, which do not overlap. A thread computes its state from the seed and its index alone, as with
//! `curand_init`:
//!
//! ```
//! use gpu_std::{prelude::*, rng::{Generator, Xoroshiro128Plus}};
//!
//! /// Counts, per thread, how many of `draws` random points of the unit square lie within the circle.
//! #[kernel]
//! pub fn inside(seed: u64, draws: u32, count: PerThread<u32>) {
//!     for (i, count) in count {
//!         let mut rng = Xoroshiro128Plus::subsequence(seed, i as u64);
//!         for _ in 0..draws {
//!             let (x, y): (f32, f32) = (rng.uniform(), rng.uniform());
//!             *count += u32::from(x.mul_add(x, y * y) <= 1.0);
//!         }
//!     }
//! }
//!
//! /// The same with states that are kept from launch to launch.
//! #[kernel]
//! pub fn go_on(draws: u32, states: PerThread<Xoroshiro128Plus>, count: &[Atomic<u32>]) {
//!     for (_, state) in states {
//!         let mut rng = *state;
//!         for _ in 0..draws {
//!             let (x, y): (f32, f32) = (rng.uniform(), rng.uniform());
//!             if x.mul_add(x, y * y) <= 1.0 {
//!                 count[0].fetch_add(1);
//!             }
//!         }
//!         *state = rng;
//!     }
//! }
//! ```
//!
//! | generator | state | period | subsequences | use it |
//! |---|---|---|---|---|
//! | [`Xoroshiro128Plus`] | 16 bytes | 2¹²⁸ − 1 | 2⁶⁴ apart | for the fewest registers, or to draw the same numbers as Numba |
//! | [`Xoshiro256PlusPlus`] | 32 bytes | 2²⁵⁶ − 1 | 2¹²⁸ apart | if all 64 bits of a draw have to pass statistical tests |
//! | [`Philox4x32`] | 48 bytes | 2¹³⁰ words | 2⁶⁶ words apart | if creating states has to be free, or draws are accessed by their index (cuRAND's `curandStatePhilox4_32_10_t`) |
//!
//! Integers and uniform numbers have the same bits on every device. Distributions that are computed with functions such as `ln` and
//! `cos` differ by the errors of these functions ([`Float`](crate::Float)).
//!
//! None of the generators is suitable for cryptography. With the feature `rand_core` they implement the traits of the crate
//! `rand_core` 0.10, and so work with `rand` and its distributions, also in kernels.

mod generator;
mod integer;
mod philox4x32;
mod poisson;
#[cfg(feature = "rand_core")]
mod rand_core;
mod real;
mod split_mix64;
mod xoroshiro128_plus;
mod xoshiro256_plus_plus;

pub use generator::Generator;
pub use integer::{Integer, IntegerRange};
pub use philox4x32::Philox4x32;
pub use real::Real;
pub use xoroshiro128_plus::Xoroshiro128Plus;
pub use xoshiro256_plus_plus::Xoshiro256PlusPlus;
