//! Kernels with a mistake, each beside one without.
#![no_std]

pub mod counter;
pub mod histogram;
pub mod off_by_one;
