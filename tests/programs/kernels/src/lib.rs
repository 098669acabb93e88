//! Kernels that `build.rs` wrote: the same random programs for the CPU and for GPUs.
//!
//! On a GPU each program is a kernel. On the host one kernel per list of parameters runs any of them, by its number: that compiles in a
//! fraction of the time.
#![no_std]
#![forbid(unsafe_code)]

use gpu_std::prelude::{collective::*, warp::*, *};

/// The bits of a value, of any type that programs have.
trait Bits {
    fn bits(self) -> u64;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Bits for $ty {
            fn bits(self) -> u64 {
                self as u64
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize bool);

macro_rules! wide_integers {
    ($($ty:ty)*) => {$(
        impl Bits for $ty {
            fn bits(self) -> u64 {
                self as u64 ^ (self >> 64) as u64
            }
        }
    )*};
}

wide_integers!(u128 i128);

impl Bits for f32 {
    fn bits(self) -> u64 {
        u64::from(bits_of_f32(self))
    }
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        bits_of_f64(self)
    }
}

impl<T: Bits, const N: usize> Bits for [T; N] {
    fn bits(self) -> u64 {
        self.into_iter().fold(0, |bits, element| bits.rotate_left(3) ^ element.bits())
    }
}

impl<T: Bits> Bits for Option<T> {
    fn bits(self) -> u64 {
        self.map_or(5, |some| !some.bits())
    }
}

impl<T: Bits, U: Bits> Bits for (T, U) {
    fn bits(self) -> u64 {
        self.0.bits() ^ self.1.bits().rotate_left(31)
    }
}

/// The bits of a NaN may differ between devices, as they may between processors (Rust reference, `f32`).
fn bits_of_f32(value: f32) -> u32 {
    if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }
}

fn bits_of_f64(value: f64) -> u64 {
    if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() }
}

#[allow(warnings, clippy::all, reason = "nobody wrote these")]
#[allow(arithmetic_overflow, unconditional_panic, overflowing_literals)]
mod programs {
    use super::*;

    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}

pub use programs::*;
