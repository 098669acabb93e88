//! What belongs to a thread of a kernel stays on the thread of the operating system that runs it: others run other threads of
//! the kernel, or none.

#![allow(unused)]

use gpu_std::prelude::*;

/// As `std::thread::scope` asks for it.
fn elsewhere<T: Send>(_: T) {}

#[kernel]
fn output(mut y: PerThread<f32>) {
    elsewhere(&mut y);
}

#[kernel]
fn places(y: PerThread2d<f32>) {
    elsewhere(y.into_iter());
}

#[kernel]
fn array(tile: Shared<f32, 32>) {
    elsewhere(tile);
}

#[kernel]
fn view(tile: Shared2d<f32, 32, 32>) {
    elsewhere(&sync(tile));
}

fn main() {}
