//! What is copied asynchronously is not read before it has arrived for all threads, nor overwritten while it is read.

#![allow(unused)]

use gpu_std::prelude::{*, async_copy::*};

/// Reads what nobody has copied.
#[kernel]
fn read_before_it_is_copied(part: AsyncShared<f32, 32>) {
    let first = part[0];
}

/// Reads what is on its way.
#[kernel]
fn read_while_on_its_way(x: &[f32], part: AsyncShared<f32, 32>) {
    let pending = part.copy_async(x);
    let first = pending[0];
}

/// Reads what peers copy, without a barrier.
#[kernel]
fn read_before_the_others_wait(x: &[f32], part: AsyncShared<f32, 32>) {
    let arrived = part.copy_async(x).wait();
    let first = arrived[0];
}

/// Comes to the barrier without waiting for its copies.
#[kernel]
fn barrier_without_waiting(x: &[f32], part: AsyncShared<f32, 32>) {
    let view = sync(part.copy_async(x));
}

/// Copies into one array twice at once.
#[kernel]
fn copy_twice(x: &[f32], part: AsyncShared<f32, 32>) {
    let first = part.copy_async(x);
    let second = part.copy_async(x);
}

/// Overwrites what others read.
#[kernel]
fn copy_into_what_is_read(x: &[f32], part: AsyncShared<f32, 32>) {
    let view = sync(part.copy_async(x).wait());
    let pending = view.copy_async(x);
}

/// Keeps an element while the array is copied into again.
#[kernel]
fn keep_reading(x: &[f32], part: AsyncShared<f32, 32>) {
    let view = sync(part.copy_async(x).wait());
    let first = &view[0];
    let part = sync(view);
    let pending = part.copy_async(x);
    drop((first, pending));
}

/// Has one copy arrive twice.
#[kernel]
fn wait_twice(x: &[f32], part: AsyncShared<f32, 32>) {
    let pending = part.copy_async(x);
    let first = sync(pending.wait());
    let second = sync(pending.wait());
}

/// Changes what is being copied.
#[kernel]
fn change_the_source(value: u32, part: AsyncShared<u32, 32>) {
    let mut source = [value; 32];
    let pending = part.copy_async(&source);
    source[0] += 1;
    let view = sync(pending.wait());
}

/// Ends the life of what is being copied.
#[kernel]
fn source_goes_away(value: u32, part: AsyncShared<u32, 32>) {
    let pending = {
        let source = [value; 32];
        part.copy_async(&source)
    };
    let view = sync(pending.wait());
}

/// Writes what other threads copy.
#[kernel]
fn write_by_hand(mut part: AsyncShared<u32, 32>) {
    for (i, element) in &mut part {
        *element = i as u32;
    }
}

/// Takes two stages out of a pipeline for one barrier.
#[kernel]
fn go_on_without_the_oldest(x: &[f32], front: AsyncShared<f32, 32>, back: AsyncShared<f32, 32>) {
    let pipeline = Pipeline::start([front, back], |_, stage| stage.copy_async(x));
    let (arrived, rest) = pipeline.wait();
    let (again, rest) = rest.wait();
}

/// Pushes what is still read.
#[kernel]
fn push_what_is_read(x: &[f32], front: AsyncShared<f32, 32>, back: AsyncShared<f32, 32>) {
    let pipeline = Pipeline::start([front, back], |_, stage| stage.copy_async(x));
    let (arrived, rest) = pipeline.wait();
    let view = sync(arrived);
    let pipeline = rest.push(view);
}

/// Mixes stages of two extents.
#[kernel]
fn another_type_of_stage(x: &[f32], front: AsyncShared<f32, 32>, back: AsyncShared<f32, 64>) {
    let pipeline = Pipeline::start([front, back], |_, stage| stage.copy_async(x));
}

/// Starts a second copy on a barrier that waits for a first.
#[kernel]
fn two_copies_on_one_barrier(x: &[f32], a: AsyncShared<f32, 32>, b: AsyncShared<f32, 32>, barrier: Mbarrier) {
    let first = a.copy_bulk(x, barrier);
    let second = b.copy_bulk(x, barrier);
}

/// Waits for one phase of a barrier twice.
#[kernel]
fn one_phase_twice(x: &[f32], a: AsyncShared<f32, 32>, barrier: Mbarrier) {
    let pending = a.copy_bulk(x, barrier);
    let (arrived, barrier) = pending.wait();
    let (again, barrier) = pending.wait();
}

/// Reads what the copy engine has on its way.
#[kernel]
fn read_in_bulk(x: &[f32], a: AsyncShared<f32, 32>, barrier: Mbarrier) {
    let pending = a.copy_bulk(x, barrier);
    let first = pending[0];
}

/// Changes what the copy engine reads.
#[kernel]
fn change_the_source_in_bulk(value: u32, a: AsyncShared<u32, 32>, barrier: Mbarrier) {
    let mut source = [value; 32];
    let pending = a.copy_bulk(&source, barrier);
    source[0] += 1;
    let (arrived, barrier) = pending.wait();
}

/// Comes to the barrier without waiting for the copy engine.
#[kernel]
fn barrier_without_waiting_for_the_engine(x: &[f32], a: AsyncShared<f32, 32>, barrier: Mbarrier) {
    let view = sync(a.copy_bulk(x, barrier));
}

/// Has a tile copied into again while it is on its way.
#[kernel]
fn one_tile_twice(x: View2d<f32>, a: AsyncShared2d<f32, 8, 32>, one: Mbarrier, two: Mbarrier) {
    let first = a.copy_bulk(x, (0, 0), one);
    let second = a.copy_bulk(x, (8, 0), two);
}

/// Takes a barrier that no block has.
#[kernel]
fn made_by_hand(x: &[f32], a: AsyncShared<f32, 32>) {
    let pending = a.copy_bulk(x, Mbarrier { start: core::ptr::null_mut() });
}

fn main() {}
