//! One buffer cannot be read and written by the same launch.

#![allow(unused)]

use gpu_std::{
    host::{RawSlice, RawView, Runtime, SafeKernel},
    prelude::*,
    view::layout::{Layout2d, ViewLayout},
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
fn shift(x: &[f32], y: PerThread<f32>) {}

#[kernel]
fn both(y: &[Atomic<u32>], z: PerThread<u32>) {}

#[kernel]
fn transpose(x: View2d<f32>, y: PerThread2d<f32>) {}

#[kernel]
fn halves(x: BlockTiles2d<f32, 8, 8>, y: PerThread2d<f32>) {}

#[kernel]
fn sums(x: View2d<f32>, y: PerBlock<f32>) {}

#[kernel]
fn fill(x: &[f32], y: [PerThread<f32>; 2]) {}

#[derive(KernelParam)]
struct Both<'k> {
    input: &'k [f32],
    output: PerThread<'k, f32>,
}

#[kernel]
fn copy(both: Both<'_>) {}

fn rows(memory: &[f32]) -> (&[f32], Layout2d) {
    unimplemented!()
}

fn rows_mut(memory: &mut [f32]) -> (&mut [f32], Layout2d) {
    unimplemented!()
}

fn main() {
    let mut x = vec![1.0];
    launch(shift, (&x, &mut x));
    let mut y = vec![1];
    launch(both, (&mut y, &mut y));
    launch(transpose, (rows(&x), rows_mut(&mut x)));
    launch(halves, (rows_mut(&mut x), rows_mut(&mut x)));
    launch(sums, (rows(&x), &mut x));
    let mut z = vec![1.0];
    launch(fill, (&x, [&mut z, &mut z]));
    launch(fill, (&x, [&mut x, &mut z]));
    launch(copy, ((&x, &mut x),));
}
