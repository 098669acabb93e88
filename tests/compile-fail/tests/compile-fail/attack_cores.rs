//! Attacks on functions of cores.

use gpu_std::{gufunc::*, prelude::*};
use gpukernel::Module;
use gpukernel_array::{Array1, Array2, CoreFunction};
use ndarray::s;

#[guvectorize("(n)->(n)")]
pub fn copy(x: CoreView<f32, 1>, mut y: CoreViewMut<f32, 1>) {
    y[0] = x[0];
}

#[guvectorize("(n)->(n),(n)")]
pub fn copies(x: CoreView<f32, 1>, mut y: CoreViewMut<f32, 1>, mut z: CoreViewMut<f32, 1>) {
    (y[0], z[0]) = (x[0], x[0]);
}

/// Outputs are divided among threads once.
#[kernel]
pub fn twice(x: InputCores<f32, 1>, y: PerThreadCores<f32, 1>) {
    for_each_core((x,), (y,), |_, _| {});
    for_each_core((x,), (y,), |_, _| {});
}

/// Two outputs are not divided in two ways.
#[kernel]
pub fn two_owners(x: InputCores<f32, 1>, y: PerThreadCores<f32, 1>, z: PerWarpCores<f32, 1>) {
    for_each_core((x,), (y, z), |_, _| {});
}

/// The core of a block is not visited by threads.
#[kernel]
pub fn other_owner(x: InputCores<f32, 1>, y: PerBlockCores<f32, 1>) {
    for_each_core((x,), (y,), |_, _| {});
}

/// Inputs are not written.
#[kernel]
pub fn written(x: InputCores<f32, 1>, y: PerThreadCores<f32, 1>) {
    for_each_core((x,), (y,), |(x,), _| x[0] = 1.0);
}

/// A core is not written twice at once.
fn two_rows(mut y: CoreViewMut<f32, 2>) {
    let (a, b) = (y.row_mut(0), y.row_mut(0));
    drop((a, b));
}

/// A view of a core for writing is not copied.
fn copied(y: CoreViewMut<f32, 1>) -> (CoreViewMut<f32, 1>, CoreViewMut<f32, 1>) {
    (y, y)
}

/// A lane does not read what others write.
fn read(y: CorePerLane<f32, 1>) -> f32 {
    y[0]
}

/// Elements of a lane are visited by one loop at a time.
fn two_loops(mut y: CorePerLane<f32, 1>) {
    let (mut a, mut b) = (y.iter_mut(), y.iter_mut());
    let _ = (a.next(), b.next());
}

/// A thread of a block has no part of a core of its own.
fn part(mut y: CorePerThread<f32, 2>) {
    y.row_mut(0);
}

/// Inputs do not outlive the launch.
#[guvectorize("(n)->()")]
pub fn kept(x: CoreView<f32, 1>) -> f32 {
    let kept: CoreView<'static, f32, 1> = x;
    kept[0]
}

/// What covers an output is not up to safe code.
#[derive(Clone, Copy)]
struct Covers;
impl CoreInputs for Covers {}

/// Nor is who owns it.
struct Owns;
impl CoreOutputs for Owns {}

/// An array is not read and written by one call.
fn aliased(module: &Module, x: &mut Array2<f32>) {
    let _ = copy::apply_into(module, (&*x,), x);
}

/// Nor is a part of it.
fn aliased_parts(module: &Module, x: &mut Array2<f32>) {
    let part = x.slice_mut(s![1.., ..]).unwrap();
    let _ = copy::apply_into(module, (x.view(),), part);
}

/// Two outputs are not one array.
fn one_output(module: &Module, x: &Array1<f32>, y: &mut Array1<f32>) {
    let _ = copies::apply_into(module, (x,), (&mut *y, &mut *y));
}

fn main() {}
