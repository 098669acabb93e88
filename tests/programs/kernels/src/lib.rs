//! Kernels that `build.rs` wrote: the same random arithmetic and branches for the CPU and for GPUs.
//!
//! Every thread runs a program on one [`Input`] and leaves an [`Outcome`].
#![no_std]

use gpu_std::prelude::*;

/// What a program starts from.
#[derive(Clone, Copy, Debug, DeviceCopy)]
#[repr(C)]
pub struct Input {
    /// Two of each type.
    pub u32s: [u32; 2],
    /// See above.
    pub i32s: [i32; 2],
    /// See above.
    pub u64s: [u64; 2],
    /// See above.
    pub i64s: [i64; 2],
    /// See above.
    pub f32s: [f32; 2],
    /// See above.
    pub f64s: [f64; 2],
}

/// What a program computed: each of its variables, two of each type, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, DeviceCopy)]
#[repr(C)]
pub struct Outcome(pub [u64; 18]);

/// The bits of a NaN may differ between devices, as they may between processors (Rust reference, `f32`).
fn bits_of_single(value: f32) -> u64 {
    if value.is_nan() { 1 } else { u64::from(value.to_bits()) }
}

fn bits_of_double(value: f64) -> u64 {
    if value.is_nan() { 1 } else { value.to_bits() }
}

include!(concat!(env!("OUT_DIR"), "/programs.rs"));
