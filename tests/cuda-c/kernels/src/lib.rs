//! Kernels that call functions in CUDA C, with all kinds of parameters and results.
#![no_std]

use gpu_std::{device, prelude::*, vector::f32x4};

/// A struct of one field.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct One {
    value: f32,
}

/// A struct with padding.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Odd {
    letter: i8,
    number: f64,
    count: i16,
}

/// A struct that no registers hold.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Large {
    numbers: [i32; 20],
}

#[device(import)]
unsafe extern "C" {
    safe fn add_small(a: i8, b: u8, c: i16, d: u16) -> i32;
    safe fn negated(a: i8) -> i8;
    safe fn flipped(x: bool) -> bool;
    safe fn widened(a: u32, b: i64) -> u64;
    safe fn mixed(a: f32, b: f64) -> f64;
    safe fn one(x: One) -> One;
    safe fn odd(x: Odd) -> Odd;
    safe fn sum_of_large(x: Large) -> i32;
    safe fn large(first: i32) -> Large;
    safe fn scaled(v: f32x4, by: f32) -> f32x4;
    fn divided(a: i32, b: i32, quotient: *mut i32, remainder: *mut i32);
    safe fn entry(i: i32) -> f32;
    safe fn square(i: i32) -> i32;
    safe fn through_helper(x: i32) -> i32;
    safe fn place() -> u32;
    fn met(counter: *mut u32) -> u32;
    safe fn block_max(value: i32) -> i32;
}

/// What [`all`] writes per thread.
pub const RESULTS: usize = 24;

/// Calls every function but those about threads, with numbers that depend on the thread.
#[kernel]
pub fn all(input: &[i32], out: PerThread<[f64; RESULTS]>) {
    for (i, out) in out {
        let x = input[i];
        let odd = odd(Odd { letter: x as i8, number: x.into(), count: x as i16 });
        let (mut quotient, mut remainder) = (0, 0);
        // SAFETY: it writes to two numbers, and divides by one that is not zero.
        unsafe { divided(x, 7, &mut quotient, &mut remainder) };
        let v = scaled(f32x4::new(1.0, 2.0, 3.0, x as f32), 0.5);
        let large = large(x);
        *out = [
            add_small(x as i8, x as u8, x as i16, x as u16).into(),
            negated(x as i8).into(),
            f64::from(u8::from(flipped(x % 2 == 0))),
            widened(x as u32, 1 << 33) as f64,
            mixed(x as f32, 0.25),
            one(One { value: x as f32 }).value.into(),
            odd.letter.into(),
            odd.number,
            odd.count.into(),
            large.numbers[0].into(),
            large.numbers[19].into(),
            sum_of_large(large).into(),
            v.x.into(),
            v.y.into(),
            v.z.into(),
            v.w.into(),
            quotient.into(),
            remainder.into(),
            entry(x).into(),
            square(x).into(),
            through_helper(x).into(),
            0.0,
            0.0,
            0.0,
        ];
    }
}

/// What CUDA's built-ins say in C.
#[kernel]
pub fn places(out: PerThread<u32>) {
    for (_, out) in out {
        *out = place();
    }
}

/// A barrier in C: every thread sees all threads of its block.
///
/// # Safety
/// There is a counter for each block, which is 0.
#[kernel]
pub unsafe fn meetings(counters: *mut u32, out: PerThread<u32>) {
    // SAFETY: as the caller promises.
    let seen = unsafe { met(counters.add(block_rank())) };
    for (_, out) in out {
        *out = seen;
    }
}

/// The largest number of each block, by its warps and its memory.
#[kernel(block = 96)]
pub fn largest(x: &[i32], out: PerBlock<i32>) {
    let largest = block_max(x[global_rank()]);
    for (_, out) in out {
        *out = largest;
    }
}
