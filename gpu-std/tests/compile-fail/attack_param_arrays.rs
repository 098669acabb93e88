//! Memory in an array or a struct of parameters is no more than the same memory as parameters of its own.

#![allow(unused)]

use std::cell::Cell;

use gpu_std::{
    host::{RawSlice, RawView, Runtime, SafeKernel},
    prelude::*,
    view::layout::ViewLayout,
};

enum Mock {}

impl Runtime for Mock {
    type Slice<T: DeviceCopy> = Vec<T>;
    type View<'a, T: DeviceCopy, S: ViewLayout> = (&'a [T], S);
    type ViewMut<'a, T: DeviceCopy, S: ViewLayout> = (&'a mut [T], S);
    fn raw_slice<T: DeviceCopy>(_: &Vec<T>) -> RawSlice {
        unimplemented!()
    }
    fn raw_view<T: DeviceCopy, S: ViewLayout>(_: &(&[T], S)) -> RawView<S> {
        unimplemented!()
    }
    fn raw_view_mut<T: DeviceCopy, S: ViewLayout>(_: &(&mut [T], S)) -> RawView<S> {
        unimplemented!()
    }
}

fn launch<K: SafeKernel>(_: K, _: K::Args<'_, Mock>) {}

#[kernel]
fn fill(x: &[f32], y: [PerThread<f32>; 2]) {}

#[derive(KernelParam)]
struct Both<'k> {
    input: &'k [f32],
    output: PerThread<'k, f32>,
}

#[kernel]
fn copy(both: Both<'_>) {}

/// Launches with the same memory twice.
fn aliased() {
    let (x, mut y) = (vec![1.0], vec![1.0]);
    launch(fill, (&x, [&mut y, &mut y]));
    let mut z = vec![1.0];
    launch(fill, (&y, [&mut y, &mut z]));
    launch(copy, ((&y, &mut y),));
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
