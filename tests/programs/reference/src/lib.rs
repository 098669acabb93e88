//! Runs random programs, on any device, and says what came of them.
//!
//! - [`Case`]: what a program is launched with
//! - [`Outcome`]: what came of it
//! - [`Kernels`]: launches, by the kernels that a crate of programs has on the host

pub mod case;
pub mod launch;
pub mod outcome;

pub use case::Case;
pub use launch::{Kernels, Unoptimised};
pub use outcome::Outcome;
