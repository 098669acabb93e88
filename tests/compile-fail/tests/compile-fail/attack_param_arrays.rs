//! Memory in an array or a struct of parameters is no more than the same memory as parameters of its own.

#![allow(unused)]

use std::cell::Cell;

use gpu_std::prelude::*;

#[derive(KernelParam)]
struct Both<'k> {
    input: &'k [f32],
    output: PerThread<'k, f32>,
}

/// Clones outputs.
#[kernel]
fn cloned(y: [PerThread<f32>; 2]) {
    drop((y.clone(), y));
}

/// Zips the same output twice.
#[kernel]
fn zipped_with_itself(y: PerThread<f32>) {
    for (_, [a, b]) in PerThread::zip([y, y]) {
        std::mem::swap(a, b);
    }
}

/// Uses outputs that `zip` has used up.
#[kernel]
fn used_up(y: [PerThread<f32>; 2]) {
    let zip = PerThread::zip(y);
    drop((zip, y));
}

thread_local! {
    static KEPT: Cell<Option<[PerThread<'static, f32>; 2]>> = const { Cell::new(None) };
    static BOTH: Cell<Option<Both<'static>>> = const { Cell::new(None) };
}

/// Keeps outputs beyond the kernel.
#[kernel]
fn kept(y: [PerThread<f32>; 2]) {
    KEPT.with(|kept| kept.set(Some(y)));
}

/// Keeps a struct beyond the kernel.
#[kernel]
fn struct_kept(both: Both<'_>) {
    BOTH.with(|kept| kept.set(Some(both)));
}

/// Borrows memory for ever.
#[derive(KernelParam)]
struct Forever<'k> {
    input: &'static [f32],
    output: PerThread<'k, f32>,
}

fn main() {}
