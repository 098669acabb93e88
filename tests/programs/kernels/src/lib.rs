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

/// What a program computed: all of its variables, folded by type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, DeviceCopy)]
#[repr(C)]
pub struct Outcome {
    /// Integers and conditions.
    pub integers: u64,
    /// The bits of `f32`s.
    pub singles: u64,
    /// The bits of `f64`s.
    pub doubles: u64,
}

impl Outcome {
    fn integer(&mut self, value: u64) {
        fold(&mut self.integers, value);
    }

    /// The bits of a NaN may differ between devices, as they may between processors (Rust reference, `f32`).
    fn single(&mut self, value: f32) {
        fold(&mut self.singles, if value.is_nan() { 1 } else { u64::from(value.to_bits()) });
    }

    fn double(&mut self, value: f64) {
        fold(&mut self.doubles, if value.is_nan() { 1 } else { value.to_bits() });
    }
}

/// One round of FxHash.
fn fold(hash: &mut u64, value: u64) {
    *hash = (hash.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
}

include!(concat!(env!("OUT_DIR"), "/programs.rs"));
