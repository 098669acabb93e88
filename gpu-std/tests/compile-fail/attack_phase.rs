//! An array is not used in a phase that is over, nor twice at once.

#![allow(unused)]

use gpu_std::prelude::*;

#[kernel]
fn write_while_others_read(mut tile: Shared<f32, 32>) {
    let view = sync(tile);
    for (_, element) in &mut tile {
        *element = view[0];
    }
}

#[kernel]
fn keep_writing(mut tile: Shared<f32, 32>) {
    let element = tile.first_mut();
    let view = sync(tile);
    drop((element, view));
}

#[kernel]
fn keep_reading(tile: Shared2d<f32, 32, 32>) {
    let view = sync(tile);
    let element = &view[(0, 0)];
    let tile = sync(view);
    drop((element, tile));
}

#[kernel]
fn read_without_barrier(tile: Shared<f32, 32>) {
    let first = tile[0];
}

#[kernel]
fn write_in_read_phase(tile: Shared<f32, 32>) {
    let mut view = sync(tile);
    view[0] = 1.0;
}

#[kernel]
fn copy_of_view(tile: Shared<f32, 32>) {
    let view = sync(tile);
    let copy = view.clone();
    drop((view, copy));
}

#[kernel]
fn twice(mut y: PerThread<f32>) {
    for (_, a) in &mut y {
        for (_, b) in &mut y {
            std::mem::swap(a, b);
        }
    }
}

#[kernel]
fn two_at_once(mut y: PerThread2d<f32>) {
    let mut first = y.iter_mut();
    let mut second = y.iter_mut();
    drop((first.next(), second.next()));
}

#[kernel]
fn any_element(y: PerThread<f32>) {
    y[3] = 1.0;
}

#[kernel]
fn barrier_of_something(x: &[f32]) {
    sync(x);
}

fn main() {}
