//! Attacks on pipelines: to run one twice, to read beyond its end, and to keep a row.

use std::cell::Cell;

use gpu_std::{
    UnsafeSlice,
    pipeline::{kernels::*, *},
    prelude::*,
};

/// Runs a pipeline with memory of its own.
#[kernel(block = 256)]
fn runs_twice(x: &[f32], output: UnsafeSlice<f32>) {
    EndsIn::<Out<f32>>::run::<4>(In::new(x), CollectMemory { output });
    let _ = Run::<Out<f32>, 4, 0>::new(CollectMemory { output });
}

/// Reads beyond the end.
#[kernel]
fn reads_beyond(x: &[f32]) {
    let _ = ParallelIterator::get(&In::new(x), Position::at(5));
    let _ = IndexedParallelIterator::item(&In::new(x), Position { index: 5, slot: 0 });
}

thread_local! {
    static KEPT: Cell<Option<Row<'static, f32>>> = const { Cell::new(None) };
}

/// Keeps a row beyond the kernel.
#[pipeline]
pub fn keeps_row(x: In2d<f32>) -> PerRow<f32> {
    x.rows().map(|row| {
        KEPT.set(Some(row));
        0.0
    })
}

fn main() {}
