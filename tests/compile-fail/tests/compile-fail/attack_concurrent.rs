//! Shared memory that all threads of a block change at once is changed atomically, and read as a whole after a barrier only.

#![allow(unused)]

use gpu_std::{Atomic, atomic::Block, prelude::{*, memory::*}};

/// Writes an element without an atomic operation.
#[kernel]
fn plain_write(mut bins: SharedAtomics<u32, 32>) {
    bins[0] = Atomic::new(1).block();
}

/// Reads an element without an atomic operation.
#[kernel]
fn plain_read(bins: SharedAtomics<u32, 32>) {
    let first: u32 = bins[0];
}

/// Reads all elements before the barrier.
#[kernel]
fn read_before_the_barrier(bins: SharedAtomics<u32, 32>) {
    let all: &[u32; 32] = &bins;
}

/// Changes an element that all read.
#[kernel]
fn change_after_the_barrier(bins: SharedAtomics<u32, 32>) {
    let view = sync(bins);
    view[0].fetch_add(1);
}

/// Keeps an element, to change it when all read it.
#[kernel]
fn kept_element(bins: SharedAtomics<u32, 32>) {
    let first = &bins[0];
    let view = sync(bins);
    first.fetch_add(view[0]);
}

/// Keeps the loop over one's own elements.
#[kernel]
fn kept_loop(bins: SharedAtomics<u32, 32>) {
    let mut mine = bins.owned();
    let view = sync(bins);
    drop((mine.next(), view));
}

/// Uses an array that the barrier has taken.
#[kernel]
fn used_up(bins: SharedAtomics<u32, 32>) {
    let view = sync(bins);
    bins[0].fetch_add(1);
}

/// Clones an array, for a phase of its own each.
#[kernel]
fn cloned(cells: SharedCells<u32, 32>) {
    let copy = cells.clone();
    let view = sync(cells);
    copy[0].store(1);
}

/// Copies the way to an array.
#[kernel]
fn given_twice(cells: SharedCells<u32, 32>) {
    let views = sync((cells, cells));
}

/// Keeps an element for another block.
#[kernel]
fn for_ever(bins: SharedAtomics<u32, 32>) {
    let first: &'static Atomic<u32, Block> = &bins[0];
}

/// Changes cells in one step, which they cannot.
#[kernel]
fn changed_cell(cells: SharedCells<u32, 32>) {
    cells[0].fetch_add(1);
}

/// Of which zero bytes are none.
#[derive(Clone, Copy, DeviceCopy, bytemuck::NoUninit)]
#[repr(u8)]
enum Choice {
    First = 1,
}

/// Puts what starts as arbitrary bytes in cells.
#[kernel]
fn choices(cells: SharedCells<Choice, 32>) {}

fn main() {}
