//! Random numbers: generators whose states are plain values, and distributions drawn from them.
//!
//! A state belongs to one thread, as a local variable or as its element of a buffer (`PerThread<Xoroshiro128Plus>`). Threads draw
//! from different *subsequences* of one seed, which do not overlap; any thread makes its state from seed and index alone:
//!
//! ```
//! use gpu_std::{prelude::*, rng::{Generator, Xoroshiro128Plus}};
//!
//! /// How many of `draws` random points of the unit square lie within the circle, per thread.
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
//! /// The same for states that last from launch to launch.
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
//! | generator | state | period | subsequences | choose it |
//! |---|---|---|---|---|
//! | [`Xoroshiro128Plus`] | 16 bytes | 2¹²⁸ − 1 | 2⁶⁴ apart | for the fewest registers, and for the numbers that Numba draws |
//! | [`Xoshiro256PlusPlus`] | 32 bytes | 2²⁵⁶ − 1 | 2¹²⁸ apart | if all 64 bits of a draw have to pass every test |
//! | [`Philox4x32`] | 48 bytes | 2¹³⁰ words | 2⁶⁶ words apart | if states have to cost nothing to make, or draws have to be found by their index |
//!
//! Integers and uniform numbers have the same bits on every device. Those computed by functions such as `ln` and `cos` have the
//! errors of these functions there ([`Float`](crate::Float)).
//!
//! None of the generators is fit for cryptography. With the feature `rand_core` they implement the traits of the crate of that
//! name, version 0.10, and so work with `rand` and its distributions, in kernels too.

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
