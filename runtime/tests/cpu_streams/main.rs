//! Streams of the CPU device: work runs in order on a thread of each stream, beside the program and other streams. Streams are held back to show that, so
//! that no test depends on time.

#[path = "../common/again.rs"]
mod again;
#[path = "../common/mod.rs"]
mod common;

mod callbacks;
mod ends;
mod events;
mod failures;
mod graphs;
mod host;
mod memory;
mod order;
mod random;
mod threads;

use gpu_std::prelude::*;

/// Adds to each element. Some blocks, so that threads of the pool run them.
#[kernel]
fn add(by: u32, y: PerThread<u32>) {
    for (_, y) in y {
        *y += by;
    }
}

#[kernel]
fn add_other(x: &[u32], y: PerThread<u32>) {
    for (i, y) in y {
        *y += x[i];
    }
}

#[kernel]
fn panics() {
    panic!("as it should");
}
