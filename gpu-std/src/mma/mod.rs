//! Matrix multiplication by a warp on tensor cores (PTX's `mma.sync`; CUDA's `wmma`).
//!
//! All 32 lanes of a warp together compute A·B + C for small matrices that are distributed over the registers of the lanes: a
//! [`FragmentA`], a [`FragmentB`] and an [`Accumulator`] are one lane's part of them.
//!
//! | elements of A and B | accumulators | rows of A × columns of B × columns of A |
//! |---|---|---|
//! | [`f16`](crate::half::f16) | `f32`, [`f16`](crate::half::f16) | 16 × 8 × 16 |
//! | [`bf16`](crate::half::bf16) | `f32` | 16 × 8 × 16 |
//! | [`Tf32`] | `f32` | 16 × 8 × 8 |
//! | `f64` | `f64` | 8 × 8 × 4 |
//! | `i8`, `u8`, also one of each | `i32` | 16 × 8 × 32 |
//!
//! ```
//! use gpu_std::{
//!     mma::{Accumulator, FragmentA, FragmentB, ConvergedWarp},
//!     prelude::{*, warp::*, mma::*},
//! };
//!
//! /// c = a·b for matrices of any extents. One warp per 8 × 8 elements of c.
//! #[kernel(block = 32)]
//! pub fn multiply(a: View2d<f64>, b: View2d<f64>, mut c: MmaOutput<f64, 8, 8>) {
//!     let warp = warp().converged();
//!     let (first_row, first_column) = c.first();
//!     let mut sum = Accumulator::filled(0.0);
//!     for k in (0..a.columns()).step_by(4) {
//!         let element = |m: &View2d<f64>, place| m.get(place).copied().unwrap_or(0.0);
//!         let left = FragmentA::from_fn(|row, column| element(&a, (first_row + row, k + column)));
//!         let right = FragmentB::from_fn(|row, column| element(&b, (k + row, first_column + column)));
//!         sum = warp.mma(&left, &right, sum);
//!     }
//!     c.store((0, 0), &sum);
//! }
//! ```
//!
//! # How matrices are distributed over lanes
//! As specified by PTX ("Matrix Fragments for mma"). With `g = lane / 4`, `t = lane % 4`, and `w` elements of A or B in 4
//! bytes (1 if an element is larger), element `i` of a lane is
//!
//! | | row | column |
//! |---|---|---|
//! | A | `g + 8·(i/w % 2)` | `w·t + 4w·(i/2w) + i % w` |
//! | B | `w·t + 4w·(i/w) + i % w` | `g` |
//! | C | `g + 8·(i/2)` | `2t + i % 2` |
//!
//! # Rounding
//! Integers wrap around. GPUs add the products of floating-point numbers in an order and with guard bits that NVIDIA does not
//! document; the products of `f16` and `bf16` are exact, and so are those of `tf32`. The CPU device starts with C and adds
//! the products in the order of A's columns, each sum rounded to `f32` (`f64` for `f64`), and rounds once more at the end if
//! accumulators have 16 bits. Compare with a tolerance.
//!
//! # Requirements
//! Architectures from `sm_80` on; building a kernel that multiplies for older ones is an error. All lanes of the warp must
//! reach the same operation: see [Not enforced](crate#not-enforced).

mod accumulator;
mod element;
mod fragment;
#[cfg(not(target_arch = "nvptx64"))]
mod host;
mod load;
mod multiply;
mod output;
mod tf32;

pub use accumulator::Accumulator;
pub use element::{MmaAccumulator, MmaElement};
pub use fragment::{FragmentA, FragmentB};
pub use multiply::{ConvergedWarp, MmaInto};
pub use output::MmaOutput;
pub use tf32::Tf32;
