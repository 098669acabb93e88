//! What is copied asynchronously is not read before it has arrived for all threads, nor overwritten while it is read.

#![allow(unused)]

use gpu_std::prelude::*;

#[kernel]
fn read_before_it_is_copied(part: Staged<f32, 32>) {
    let first = part[0];
}

#[kernel]
fn read_while_on_its_way(x: &[f32], part: Staged<f32, 32>) {
    let pending = part.copy_async(x);
    let first = pending[0];
}

#[kernel]
fn read_before_the_others_wait(x: &[f32], part: Staged<f32, 32>) {
    let arrived = part.copy_async(x).wait();
    let first = arrived[0];
}

#[kernel]
fn barrier_without_waiting(x: &[f32], part: Staged<f32, 32>) {
    let view = sync(part.copy_async(x));
}

#[kernel]
fn copy_twice(x: &[f32], part: Staged<f32, 32>) {
    let first = part.copy_async(x);
    let second = part.copy_async(x);
}

#[kernel]
fn copy_into_what_is_read(x: &[f32], part: Staged<f32, 32>) {
    let view = sync(part.copy_async(x).wait());
    let pending = view.copy_async(x);
}

#[kernel]
fn keep_reading(x: &[f32], part: Staged<f32, 32>) {
    let view = sync(part.copy_async(x).wait());
    let first = &view[0];
    let part = sync(view);
    let pending = part.copy_async(x);
    drop((first, pending));
}

#[kernel]
fn wait_twice(x: &[f32], part: Staged<f32, 32>) {
    let pending = part.copy_async(x);
    let first = sync(pending.wait());
    let second = sync(pending.wait());
}

#[kernel]
fn change_the_source(value: u32, part: Staged<u32, 32>) {
    let mut source = [value; 32];
    let pending = part.copy_async(&source);
    source[0] += 1;
    let view = sync(pending.wait());
}

#[kernel]
fn source_goes_away(value: u32, part: Staged<u32, 32>) {
    let pending = {
        let source = [value; 32];
        part.copy_async(&source)
    };
    let view = sync(pending.wait());
}

#[kernel]
fn write_by_hand(mut part: Staged<u32, 32>) {
    for (i, element) in &mut part {
        *element = i as u32;
    }
}

#[kernel]
fn go_on_without_the_oldest(x: &[f32], front: Staged<f32, 32>, back: Staged<f32, 32>) {
    let pipeline = Pipeline::start([front, back], |_, stage| stage.copy_async(x));
    let (arrived, rest) = pipeline.wait();
    let (again, rest) = rest.wait();
}

#[kernel]
fn push_what_is_read(x: &[f32], front: Staged<f32, 32>, back: Staged<f32, 32>) {
    let pipeline = Pipeline::start([front, back], |_, stage| stage.copy_async(x));
    let (arrived, rest) = pipeline.wait();
    let view = sync(arrived);
    let pipeline = rest.push(view);
}

#[kernel]
fn another_type_of_stage(x: &[f32], front: Staged<f32, 32>, back: Staged<f32, 64>) {
    let pipeline = Pipeline::start([front, back], |_, stage| stage.copy_async(x));
}

fn main() {}
