//! A shared array whose length the launch gives is in one phase at a time, and lasts no longer than the block.

#![allow(unused)]

use std::cell::Cell;

use gpu_std::prelude::{*, memory::*};

std::thread_local! {
    static KEPT: Cell<Option<SharedSliceView<'static, f32>>> = const { Cell::new(None) };
}

#[kernel]
fn write_while_others_read(mut part: SharedSlice<f32>) {
    let view = sync(part);
    for (_, element) in &mut part {
        *element = view[0];
    }
}

#[kernel]
fn keep_writing(mut part: SharedSlice<f32>) {
    let element = part.first_mut();
    let view = sync(part);
    drop((element, view));
}

#[kernel]
fn keep_reading(part: SharedSlice<f32>) {
    let view = sync(part);
    let element = &view[0];
    let part = sync(view);
    drop((element, part));
}

#[kernel]
fn read_without_barrier(part: SharedSlice<f32>) {
    let first = part[0];
}

#[kernel]
fn write_in_read_phase(part: SharedSlice<f32>) {
    let mut view = sync(part);
    view[0] = 1.0;
}

#[kernel]
fn copy_of_view(part: SharedSlice<f32>) {
    let view = sync(part);
    let copy = view.clone();
    drop((view, copy));
}

#[kernel]
fn keep(part: SharedSlice<f32>) {
    KEPT.set(Some(sync(part)));
}

fn main() {}
