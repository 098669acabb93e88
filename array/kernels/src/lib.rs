//! The kernels of `gpukernel-array`: arithmetic of arrays element by element, the larger and smaller of two, and copies of strided arrays.
#![no_std]

use core::{
    mem::MaybeUninit,
    ops::{Add, Div, Mul, Neg, Sub},
};

use gpu_std::prelude::*;

/// Adds two numbers. Integers wrap around in release builds, as everywhere in Rust.
#[vectorize(f32, f64, i32, i64, u32, u64)]
#[inline]
pub fn add<T: Add<Output = T>>(a: T, b: T) -> T {
    a + b
}

/// Subtracts the second number from the first.
#[vectorize(f32, f64, i32, i64, u32, u64)]
#[inline]
pub fn sub<T: Sub<Output = T>>(a: T, b: T) -> T {
    a - b
}

/// Multiplies two numbers.
#[vectorize(f32, f64, i32, i64, u32, u64)]
#[inline]
pub fn mul<T: Mul<Output = T>>(a: T, b: T) -> T {
    a * b
}

/// Divides the first number by the second. An integer divided by 0 is a panic.
#[vectorize(f32, f64, i32, i64, u32, u64)]
#[inline]
pub fn div<T: Div<Output = T>>(a: T, b: T) -> T {
    a / b
}

/// Negates a number.
#[vectorize(f32, f64, i32, i64)]
#[inline]
pub fn neg<T: Neg<Output = T>>(a: T) -> T {
    -a
}

/// Returns the larger of two numbers, and NaN if one is NaN, as NumPy's `maximum`.
#[vectorize(f32, f64, i32, i64, u32, u64)]
#[inline]
pub fn maximum<T: PartialOrd>(a: T, b: T) -> T {
    if a > b || is_nan(&a) { a } else { b }
}

/// Returns the smaller of two numbers, and NaN if one is NaN, as NumPy's `minimum`.
#[vectorize(f32, f64, i32, i64, u32, u64)]
#[inline]
pub fn minimum<T: PartialOrd>(a: T, b: T) -> T {
    if a < b || is_nan(&a) { a } else { b }
}

/// Numbers that are not NaN equal themselves.
#[inline]
#[allow(clippy::eq_op)]
fn is_nan<T: PartialOrd>(x: &T) -> bool {
    x != x
}

/// Copies so many bytes, whatever they are: elements of any type are copied as several of these.
#[vectorize(MaybeUninit<u8>, MaybeUninit<u16>, MaybeUninit<u32>, MaybeUninit<u64>, MaybeUninit<u128>)]
#[inline]
pub fn assign<T>(from: T) -> T {
    from
}
