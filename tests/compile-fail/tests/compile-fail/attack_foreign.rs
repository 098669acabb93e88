//! Functions of CUDA C are declared in `unsafe` blocks, and called in `unsafe` code unless the declaration promises more.

#![allow(unused)]

use gpu_std::{device, prelude::*};

#[device(import)]
unsafe extern "C" {
    fn write(out: *mut f32);
    safe fn shade(x: f32) -> f32;
}

/// Calls without a promise.
#[kernel]
fn call_without_a_promise(y: PerThread<f32>) {
    for (_, y) in y {
        write(y);
    }
}

/// Gives what the function does not take.
#[kernel]
fn give_something_else(y: PerThread<f32>) {
    for (_, y) in y {
        *y = shade(1_u32);
    }
}

/// Declares without saying who is to blame.
#[device(import)]
extern "C" {
    fn unpromised(x: f32) -> f32;
}

#[device(import)]
unsafe extern "C" {
    fn generic<T>(x: T) -> T;
}

#[device(import)]
unsafe extern "C" {
    fn variadic(format: *const u8, ...) -> i32;
}

#[device(import)]
unsafe extern "C" {
    static mut COUNTER: u32;
}

#[device(import)]
unsafe extern "system" {
    fn of_another_abi(x: f32) -> f32;
}

#[device(export)]
pub fn with_rusts_abi(x: f32) -> f32 {
    x
}

#[device(export)]
pub extern "C" fn generic_export<T: Copy>(x: T) -> T {
    x
}

#[device]
pub extern "C" fn in_no_direction(x: f32) -> f32 {
    x
}

fn main() {}
