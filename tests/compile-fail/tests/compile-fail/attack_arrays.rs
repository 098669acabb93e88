//! Attacks on the parameters of elementwise kernels and on arrays.

use gpu_std::{elementwise::*, prelude::*};
use gpukernel::{Buffer, Module, for_each};
use gpukernel_array::{Array1, ArrayFunction};

#[vectorize]
pub fn next(x: f32) -> f32 {
    x + 1.0
}

/// An output is divided among threads once: a second division could be another one.
#[kernel]
pub fn twice(x: ViewNdOrScalar<f32>, out: PerThreadNd<f32>) {
    out.map((x,), |(x,)| x);
    out.reduce(x, |a, b| a + b);
}

/// Nor twice in the same way.
#[kernel]
pub fn plane_twice(x: PlaneOrScalar<f32>, out: PerThreadPlane<f32>) {
    out.map((x,), |(x,)| x);
    out.map((x,), |(x,)| x);
}

/// An output is not copied.
#[kernel]
pub fn cloned(x: SliceOrScalar<f32>, out: PerThreadChunks<f32, 4>) {
    out.clone().map((x,), |(x,)| x);
}

/// Rows are not divided by elements.
#[kernel]
pub fn rows(x: ViewNdOrScalar<f32>, out: PerThreadRows<f32>) {
    out.map((x,), |(x,)| x);
}

/// Elements are not read without a check.
#[kernel]
pub fn unchecked(x: SliceOrScalar<f32>, out: PerThread<f32>) {
    for (i, out) in out {
        *out = x.get(i);
    }
}

/// Inputs do not outlive the launch.
#[kernel]
pub fn kept(x: SliceOrScalar<f32>) {
    let _: SliceOrScalar<'static, f32> = x;
}

/// Nor do their elements.
#[kernel]
pub fn kept_elements(x: SliceOrScalar<f32>) {
    let _: Option<&'static [f32]> = x.slice();
}

/// What covers an output is not up to safe code.
#[derive(Clone, Copy)]
struct Covers;
impl SliceInputs for Covers {}

/// An array is not read and written by one launch.
fn aliased(module: &Module, x: &mut Array1<f32>) {
    let _ = next::apply_into(module, (&*x,), x);
}

/// Nor is a part of it.
fn aliased_parts(module: &Module, x: &mut Array1<f32>) {
    let part = x.slice_mut(ndarray::s![1..]).unwrap();
    let _ = next::apply_into(module, (x.view(),), part);
}

/// A view does not outlive its buffer.
fn dangling(buffer: Buffer<f32>) {
    let view = buffer.view_nd(0, &[1], &[1]).unwrap();
    drop(buffer);
    let _ = view;
}

/// Nor does one of an array.
fn dangling_array(x: Array1<f32>) {
    let view = x.t();
    drop(x);
    let _ = view.len();
}

/// Elements are plain data.
fn references(x: Array1<&'static f32>) {
    let _ = x.len();
}

/// A view for writing is used once.
fn two_writers(module: &Module, buffer: &mut Buffer<f32>) {
    let (one, two) = (buffer.view_nd_mut(0, &[1], &[1]), buffer.view_nd_mut(0, &[1], &[1]));
    let _ = (module, for_each(1), one, two);
}

fn main() {}
