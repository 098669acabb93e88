//! Lanes exchange plain data only, in groups that stay with their thread and that nobody makes by hand.

#![allow(unused)]

use gpu_std::{
    prelude::{*, warp::*},
    warp::{Coalesced, LaneGroup, WarpTile, warp},
};

/// Takes a truth value from another lane, which might have ended and left any byte.
#[kernel]
fn truth(x: &[u32], y: PerThread<u32>) {
    let other = warp().shuffle(x[0] > 1, 0);
}

/// Takes a reference from another lane.
#[kernel]
fn reference(x: &[u32]) {
    let other: &u32 = warp().broadcast(&x[0], 3);
}

/// Takes a mutable reference from another lane.
#[kernel]
fn exclusive_reference(mut y: PerThread<u32>) {
    if let Some((_, mine)) = y.first_mut() {
        let theirs = warp().shuffle_xor(mine, 1);
    }
}

/// Takes an output from another lane.
#[kernel]
fn output(y: PerThread<u32>) {
    let theirs = warp().shuffle_down(y, 1);
}

/// Takes a value with padding, whose bytes have no value.
#[kernel]
fn padding(y: PerThread<u32>) {
    let theirs = warp().shuffle((1_u8, 2_u32), 1);
}

/// Adds up references.
#[kernel]
fn sum_of_references(x: &[u32]) {
    let sum = warp().reduce(&x[0], |a, b| if a < b { a } else { b });
}

fn elsewhere<T: Send>(_: T) {}

/// Gives a group to another thread of the operating system.
#[kernel]
fn sent() {
    elsewhere(warp());
}

/// The same for a group of lanes that came together.
#[kernel]
fn sent_coalesced() {
    elsewhere(gpu_std::warp::coalesced());
}

#[derive(Clone, Copy)]
struct Everyone;

/// A group of one's own, with lanes that do not take part.
impl LaneGroup for Everyone {
    fn size(&self) -> u32 {
        32
    }
    fn rank(&self) -> u32 {
        0
    }
    fn lanes(&self) -> u32 {
        u32::MAX
    }
}

/// More lanes than there are.
fn grown(mut group: WarpTile<8>) {
    group.size = 32;
}

/// Other lanes than came together.
fn other_lanes(mut group: Coalesced) {
    group.lanes = u32::MAX;
}

fn main() {}
