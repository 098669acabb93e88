//! The kernels of `gpukernel-algorithms`: reductions, scans, sorts and others over all of a buffer.
//!
//! Kernels are generic. The instances for numbers are those of this crate; a kernel crate that depends on it declares others by its macros, such as
//! [`reduction!`], for its own types and operators.
#![no_std]
// Loops over indices are unrolled before arrays become registers; iterators of arrays are not.
#![allow(clippy::needless_range_loop)]

#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

mod by_key;
mod bytes;
mod element;
mod gather;
mod histogram;
mod instances;
mod key;
#[cfg(not(target_arch = "nvptx64"))]
mod launch;
mod look_back;
mod matrix;
mod numbers;
mod random;
mod reduce;
mod scan;
mod search;
mod select;
mod shipped;
mod sort;
mod tile;
mod top_k;

#[doc(hidden)]
pub use by_key::assert_segment;
pub use by_key::{Segment, SegmentValue};
#[doc(hidden)]
pub use bytes::Bytes;
pub use element::{Element, Identity};
pub use histogram::Sample;
pub use key::{KeyWord, Order};
#[doc(hidden)]
pub use key::{as_they_are, flipped};
#[cfg(not(target_arch = "nvptx64"))]
pub use launch::{
    FillWith, Histogram, Key, Launch, MatrixElement, Predicate, Random, Reduce, ReduceByKey, Scan, Unique,
};
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub use launch::{LargeTile, Part, SearchWords, SortWords, SortableWord, choose_digit, number, start_digits};
pub use look_back::state_len;
#[doc(hidden)]
pub use matrix::ProductShape;
pub use random::{Bits, Normal, Uniform};
pub use sort::SortKey;
#[doc(hidden)]
pub use sort::{DIGITS, SortValue};
pub use tile::{BLOCK, ROWS, lanes, tile_len};
#[doc(hidden)]
pub use tile::{RESIDENT_BLOCKS, Shape};

/// Names that the expansions of macros use.
#[doc(hidden)]
pub mod __kernels {
    pub use crate::{by_key::*, histogram::*, matrix::*, random::*, reduce::*, scan::*, select::*, sort::*};
    pub use gpu_std;
}
