//! The kernels of `gpukernel-algorithms`: reductions, scans, sorts and others over all of a buffer.
//!
//! Kernels are generic. The instances for numbers are those of this crate; a kernel crate that depends on it declares others by its macros, such as
//! [`reduction!`], for its own types and operators.
#![no_std]
// Loops over indices are unrolled before arrays become registers; iterators of arrays are not.
#![allow(clippy::needless_range_loop)]

#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

mod bytes;
mod element;
mod gather;
mod instances;
mod key;
mod look_back;
mod reduce;
mod scan;
mod select;
mod sort;
mod tile;

pub use bytes::Bytes;
pub use element::{Element, Identity};
#[cfg(not(target_arch = "nvptx64"))]
pub use instances::{
    Key, Launch, Part, Predicate, Reduce, Scan, SortWords, SortableWord, Unique, number, start_digits,
};
pub use key::{KeyWord, Order, as_they_are, flipped};
pub use look_back::state_len;
pub use sort::{DIGITS, SortKey, SortValue};
pub use tile::{BLOCK, ROWS, lanes, tile_len};

/// Names that the expansions of macros use.
#[doc(hidden)]
pub mod __kernels {
    pub use crate::{reduce::*, scan::*, select::*, sort::*};
    pub use gpu_std;
}
