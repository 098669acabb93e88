//! The first drafts of `../kernels/src/draft` after a look at the machine code: the same algorithms with the same blocks, in safe Rust, and nothing that can
//! panic. Drafts that are not here have nothing to win.

#![no_std]

pub mod boxes;
pub mod grids;
pub mod particles;
pub mod rows;
pub mod scalar;
pub mod sorting;
pub mod streams;
