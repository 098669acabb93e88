//! A shared array is not used in a phase that is over, nor twice at once.

#![allow(unused)]

use gpu_std::prelude::{*, memory::*};

/// Writes what others read.
#[kernel]
fn write_while_others_read(mut tile: Shared<f32, 32>) {
    let view = sync(tile);
    for (_, element) in &mut tile {
        *element = view[0];
    }
}

/// Keeps an element of the write phase in the read phase.
#[kernel]
fn keep_writing(mut tile: Shared<f32, 32>) {
    let element = tile.first_mut();
    let view = sync(tile);
    drop((element, view));
}

/// Keeps the loop of the write phase in the read phase.
#[kernel]
fn keep_iterating(mut tile: Shared2d<f32, 8, 8>) {
    let mut elements = tile.iter_mut();
    let view = sync(tile);
    drop((elements.next(), view));
}

/// Keeps an element of the read phase in the write phase.
#[kernel]
fn keep_reading(tile: Shared2d<f32, 32, 32>) {
    let view = sync(tile);
    let element = &view[(0, 0)];
    let tile = sync(view);
    drop((element, tile));
}

/// Keeps a row of the read phase in the write phase.
#[kernel]
fn keep_row(tile: Shared2d<f32, 32, 32>) {
    let view = sync(tile);
    let row = view.row(0);
    let tile = sync(view);
    drop((row, tile));
}

/// Reads the elements of others before the barrier.
#[kernel]
fn read_without_barrier(tile: Shared<f32, 32>) {
    let first = tile[0];
}

/// Writes in the read phase.
#[kernel]
fn write_in_read_phase(tile: Shared<f32, 32>) {
    let mut view = sync(tile);
    view[0] = 1.0;
}

/// Asks the read phase for an element to write.
#[kernel]
fn element_of_view(tile: Shared2d<f32, 32, 32>) {
    let mut view = sync(tile);
    let element = view.get_mut((0, 0));
}

/// Clones a view, to keep one.
#[kernel]
fn copy_of_view(tile: Shared<f32, 32>) {
    let view = sync(tile);
    let copy = SharedView::clone(&view);
    drop((sync(view), copy));
}

/// Clones an array, for a phase of its own each.
#[kernel]
fn copy_of_array(tile: Shared<f32, 32>) {
    let copy = tile.clone();
    drop((sync(tile), copy));
}

/// Gives one array to the barrier twice.
#[kernel]
fn twice_at_the_barrier(tile: Shared<f32, 32>) {
    let (first, second) = sync((tile, tile));
}

/// Gives the barrier a reference, and keeps the array.
#[kernel]
fn by_reference(mut tile: Shared<f32, 32>) {
    let view = sync(&mut tile);
}

/// Gives the barrier one array, and reads another.
#[kernel]
fn the_other_array(a: Shared<f32, 32>, b: Shared<f32, 32>) {
    let a = sync(a);
    let first = a[0] + b[0];
}

/// Leaves out the barrier.
#[kernel]
fn without_barrier(tile: Shared<f32, 32>) {
    let view = gpu_std::Phase::after_barrier(tile);
}

/// Names the view.
#[kernel]
fn as_view(tile: Shared<f32, 32>) {
    let view: SharedView<f32, 32> = tile;
}

/// Takes a view of a larger array.
#[kernel]
fn larger_view(tile: Shared<f32, 32>) {
    let view: SharedView<f32, 64> = sync(tile);
}

/// Gives the barrier something that is no shared array.
#[kernel]
fn barrier_of_something(x: &[f32]) {
    sync(x);
}

fn main() {}
