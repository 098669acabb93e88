//! Functions that cannot be functions of cores, and calls of those that can with other arguments than they have.

use gpu_std::{gufunc::*, prelude::*};
use gpukernel::Module;
use gpukernel_array::{Array1, Array2, CoreFunction, Result};

#[guvectorize(f32)]
pub fn no_layout<T: Float>(x: CoreView<T, 1>) -> T {
    x[0]
}

#[guvectorize("(n)->(m)")]
pub fn unknown_dimension(x: CoreView<f32, 1>, y: CoreViewMut<f32, 1>) {}

#[guvectorize("(n)->()")]
pub fn no_types<T: Float>(x: CoreView<T, 1>) -> T {
    x[0]
}

#[guvectorize("(n),()->()")]
pub fn missing_argument(x: CoreView<f32, 1>) -> f32 {
    x[0]
}

#[guvectorize("(n)->(n)")]
pub fn of_slices(x: &[f32], y: &mut [f32]) {}

#[guvectorize("(n)->(n)", per = block)]
pub fn of_another_owner(x: CoreView<f32, 1>, y: CoreViewMut<f32, 1>) {}

#[guvectorize("(m,n)->()")]
pub fn other_axes(x: CoreView<f32, 1>) -> f32 {
    x[0]
}

#[guvectorize("(n)->(),()")]
pub fn one_result(x: CoreView<f32, 1>) -> f32 {
    x[0]
}

#[guvectorize("(n)->()")]
pub fn references(x: CoreView<&'static f32, 1>) -> f32 {
    *x[0]
}

#[guvectorize("(n)->(n)", per = warp)]
pub fn not_indexed(x: CoreView<f32, 1>, y: CorePerLane<f32, 1>) {
    y[0] = x[0];
}

#[guvectorize("(m,n),(n)->(m)", f32, f64)]
pub fn matvec<T: Float>(a: CoreView<T, 2>, x: CoreView<T, 1>, mut y: CoreViewMut<T, 1>) {
    y[0] = a[(0, 0)] * x[0];
}

#[guvectorize("(n)->(),()")]
pub fn ends(x: CoreView<f32, 1>) -> (f32, f32) {
    (x[0], x[x.len() - 1])
}

fn missing_signature(module: &Module, a: &Array2<i32>, x: &Array1<i32>) -> Result<()> {
    matvec::apply(module, (a, x))?;
    Ok(())
}

fn too_few_axes(module: &Module, x: &Array1<f32>) -> Result<()> {
    matvec::apply(module, (x, x))?;
    Ok(())
}

fn scalar_for_a_core(module: &Module, a: &Array2<f32>) -> Result<()> {
    matvec::apply(module, (a, 1.0))?;
    Ok(())
}

fn wrong_number(module: &Module, a: &Array2<f32>) -> Result<()> {
    matvec::apply(module, (a,))?;
    Ok(())
}

fn other_dimension(module: &Module, a: &Array2<f32>, x: &Array1<f32>) -> Result<Array2<f32>> {
    matvec::apply(module, (a, x))
}

fn one_target(module: &Module, x: &Array1<f32>, y: &mut Array1<f32>) -> Result<()> {
    ends::apply_into(module, (x,), y)
}

fn main() {}
