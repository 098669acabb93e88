//! Functions that cannot be pipelines or reductions, and calls of those that can with other types than they have.

use gpu_std::{pipeline::*, prelude::*};
use gpukernel::Module;
use gpukernel_array::{Array1, ArrayPipeline, Result};

#[pipeline]
pub fn generic<T: Float>(x: In<T>) -> Scalar<T> {
    x.sum()
}

#[pipeline]
pub fn returns_nothing(_: In<f32>) {}

#[pipeline]
pub fn takes_slice(x: &[f32]) -> Scalar<f32> {
    x.iter().sum()
}

#[reduction]
pub fn no_identity(a: f32, b: f32) -> f32 {
    a + b
}

#[reduction(identity = 0.0)]
pub fn not_binary(a: f32) -> f32 {
    a
}

/// Items are left out, so that there is none at each position.
#[pipeline]
pub fn filtered(x: In<f32>) -> Out<f32> {
    x.filter(|v| *v > 0.0)
}

/// The sum is of another type.
#[pipeline]
pub fn other_type(x: In<f32>) -> Scalar<f64> {
    x.sum()
}

/// A filter has no indices after it.
#[pipeline]
pub fn indexed_too_late(x: In<f32>) -> Compact<usize> {
    x.filter(|v| *v > 0.0).enumerate().map(|(i, _)| i)
}

/// The closure borrows a variable of the body.
#[pipeline]
pub fn borrows(x: In<f32>, factor: f32) -> Out<f32> {
    let twice = 2.0 * factor;
    x.map(|v| v * twice)
}

/// Lanes cannot exchange values with padding.
#[pipeline]
pub fn padded(x: In<u8>) -> Scalar<Padded> {
    x.map(|v| Padded { small: v, large: 0 }).reduce(Padded { small: 0, large: 0 }, |a, _| a)
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct Padded {
    small: u8,
    large: u32,
}

/// Sums of rows are values at once, those of whole arrays are not.
#[pipeline]
pub fn uses_a_sum(x: In<f32>) -> Out<f32> {
    let sum = x.sum();
    x.map(move |v| v / sum)
}

#[pipeline(f32)]
pub fn fine<T: Float>(x: In<T>, factor: T) -> Out<T> {
    x.map(move |v| v * factor)
}

fn missing_instance(module: &Module, x: &Array1<f64>) -> Result<()> {
    fine::call(module, (x, 2.0))?;
    Ok(())
}

fn wrong_number(module: &Module, x: &Array1<f32>) -> Result<()> {
    fine::call(module, (x,))?;
    Ok(())
}

fn value_for_array(module: &Module) -> Result<()> {
    fine::call(module, (1.0_f32, 2.0_f32))?;
    Ok(())
}

fn array_for_value(module: &Module, x: &Array1<f32>) -> Result<()> {
    fine::call(module, (x, x))?;
    Ok(())
}

fn main() {}
