//! The kernels of `gpukernel-algorithms`: reductions, scans, sorts and others over all of a buffer.
//!
//! Kernels are generic. The instances for numbers are those of this crate; a kernel crate that depends on it declares others by its macros, such as
//! [`reduction!`], for its own types and operators.
#![no_std]
// Loops over indices are unrolled before arrays become registers; iterators of arrays are not.
#![allow(clippy::needless_range_loop)]

#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

mod element;
mod instances;
mod look_back;
mod reduce;
mod scan;
mod tile;

pub use element::{Element, Identity};
#[cfg(not(target_arch = "nvptx64"))]
pub use instances::{Launch, Reduce, Scan};
pub use look_back::state_len;
pub use tile::{BLOCK, ROWS, lanes, tile_len};

/// Names that the expansions of macros use.
#[doc(hidden)]
pub mod __kernels {
    pub use crate::{reduce::*, scan::*};
    pub use gpu_std;
}
