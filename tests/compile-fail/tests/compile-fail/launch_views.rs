//! Views are launched in the shape that the kernel declares, outlive no launch, and are not lent twice.

#![allow(unused)]

use std::cell::Cell;

use gpu_std::{
    host::{RawSlice, RawView, Runtime, SafeKernel},
    prelude::{*, memory::*},
    view::layout::{self, ViewLayout},
};

enum Mock {}

struct View<'a, T, S>(&'a [T], S);
struct ViewMut<'a, T, S>(&'a mut [T], S);

impl Runtime for Mock {
    type Slice<T: DeviceCopy> = Vec<T>;
    type View<'a, T: DeviceCopy, S: ViewLayout> = View<'a, T, S>;
    type ViewMut<'a, T: DeviceCopy, S: ViewLayout> = ViewMut<'a, T, S>;
    fn raw_slice<T: DeviceCopy>(_: &Vec<T>) -> RawSlice {
        unimplemented!()
    }
    fn raw_view<T: DeviceCopy, S: ViewLayout>(_: &View<'_, T, S>) -> RawView<S> {
        unimplemented!()
    }
    fn raw_view_mut<T: DeviceCopy, S: ViewLayout>(_: &ViewMut<'_, T, S>) -> RawView<S> {
        unimplemented!()
    }
}

fn launch<K: SafeKernel>(_: K, _: K::Args<'_, Mock>) {}

fn rows(memory: &Vec<f32>) -> View<'_, f32, layout::Layout2d> {
    unimplemented!()
}
fn rows_mut(memory: &mut Vec<f32>) -> ViewMut<'_, f32, layout::Layout2d> {
    unimplemented!()
}
fn strided(memory: &Vec<f32>) -> View<'_, f32, layout::StridedLayout> {
    unimplemented!()
}

mod kernels {
    use super::*;

    #[kernel]
    pub fn transpose(x: View2d<f32>, y: PerThread2d<f32>) {}

    #[kernel]
    pub fn volume(x: View3d<f32>) {}

    #[kernel]
    pub fn line(x: ViewStrided<f32>) {}
}

use kernels::{line, transpose, volume};

/// A layout of one's own, which might have any extent.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct MyLayout;
impl ViewLayout for MyLayout {
    fn extent(&self) -> usize {
        0
    }
}

std::thread_local! {
    static KEPT: Cell<Option<View2d<'static, f32>>> = const { Cell::new(None) };
}

/// Keeps a view for the next thread.
#[kernel]
fn keep(x: View2d<f32>) {
    KEPT.set(Some(x));
}

/// Gives what is only read for an output.
fn view_as_output(x: Vec<f32>) {
    launch(transpose, (rows(&x), rows(&x)));
}

/// Gives rows for layers.
fn rows_as_layers(x: Vec<f32>) {
    launch(volume, (rows(&x),));
}

/// Gives rows for every n-th element.
fn rows_as_strided(x: Vec<f32>) {
    launch(line, (rows(&x),));
}

/// Gives every n-th element for rows.
fn strided_as_rows(x: Vec<f32>, mut y: Vec<f32>) {
    launch(transpose, (strided(&x), rows_mut(&mut y)));
}

/// Gives memory of no shape.
fn no_shape(x: Vec<f32>) {
    launch(line, (&x,));
}

/// Reads and writes the same rows.
fn same_rows(mut x: Vec<f32>) {
    launch(transpose, (rows(&x), rows_mut(&mut x)));
}

fn main() {
    let (x, mut y) = (vec![1.0], vec![1.0]);
    launch(transpose, (rows(&x), rows_mut(&mut y)));
}
