#![allow(unused)]

use gpu_std::prelude::*;

#[kernel]
fn read(x: *const f32) {}

#[kernel]
fn write(y: *mut f32) {}

#[kernel]
unsafe fn allowed(x: *const f32, y: *mut f32) {}

fn main() {}
