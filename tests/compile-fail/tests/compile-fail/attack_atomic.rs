//! Memory that all threads change is changed in no other way, and handed to no other kind of parameter.

#![allow(unused)]

use gpu_std::prelude::{*, memory::*};

/// Writes an element without an atomic operation.
#[kernel]
fn plain_write(counts: &[Atomic<u32>]) {
    counts[0] = Atomic::new(1);
}

/// Reads an element without an atomic operation.
#[kernel]
fn plain_read(counts: &[Atomic<u32>]) {
    let count: u32 = *counts[0];
}

/// Moves an element out.
#[kernel]
fn moved_out(counts: &[Atomic<u32>]) {
    let count = counts[0].into_inner();
}

/// Takes the memory as plain elements.
#[kernel]
fn plain_slice(counts: &[Atomic<u32>]) {
    let counts: &[u32] = counts;
}

/// Takes the memory of a cell exclusively.
#[kernel]
fn exclusive_cell(cells: &[RelaxedCell<u32>]) {
    let cell: &mut RelaxedCell<u32> = &mut cells[0];
}

/// Reads with an ordering that no load has.
#[kernel]
fn released_load(flags: &[Atomic<u32>]) {
    let flag = flags[0].release().load();
}

/// Changes a cell in one step, which it cannot.
#[kernel]
fn changed_cell(cells: &[RelaxedCell<u32>]) {
    cells[0].fetch_add(1);
}

/// Takes an atomic by value: a copy of its own for each thread.
#[kernel]
fn by_value(count: Atomic<u32>) {}

/// Takes atomics that each thread owns.
#[kernel]
fn owned(counts: PerThread<Atomic<u32>>) {}

/// Takes cells of a type with padding, whose bytes have no value.
#[kernel]
fn padding(cells: &[RelaxedCell<(u8, u32)>]) {}

/// Takes atomics of a type that the GPU has no operations for.
#[kernel]
fn bytes(flags: &[Atomic<bool>]) {}

/// Keeps an atomic for another launch.
#[kernel]
fn kept(counts: &[Atomic<u32>]) {
    let kept: &'static Atomic<u32> = &counts[0];
}

fn main() {}
