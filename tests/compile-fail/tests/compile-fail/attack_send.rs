//! What belongs to a thread of a kernel stays on the thread of the operating system that runs it: others run other threads of
//! the kernel, or none.

#![allow(unused)]

use gpu_std::prelude::*;

// As `std::thread::scope` asks for it.
fn elsewhere<T: Send>(_: T) {}

/// Lends an output to another thread.
#[kernel]
fn output(mut y: PerThread<f32>) {
    elsewhere(&mut y);
}

/// Gives the rest of a loop to another thread.
#[kernel]
fn places(y: PerThread2d<f32>) {
    elsewhere(y.into_iter());
}

/// Gives a shared array to another thread.
#[kernel]
fn array(tile: Shared<f32, 32>) {
    elsewhere(tile);
}

/// Lends a view to another thread.
#[kernel]
fn view(tile: Shared2d<f32, 32, 32>) {
    elsewhere(&sync(tile));
}

/// Comes to the barrier on another thread.
#[kernel]
fn barrier(tile: Shared<f32, 32>) {
    std::thread::scope(|scope| {
        scope.spawn(|| sync(tile));
    });
}

fn main() {}
