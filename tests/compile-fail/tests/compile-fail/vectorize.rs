//! Functions that cannot be functions of arrays, and calls of those that can with other types than they have.

use gpu_std::prelude::*;
use gpukernel::Module;
use gpukernel_array::{Array1, ArrayFunction, Result};
use ndarray::Axis;

#[vectorize]
pub fn generic<T: Float>(x: T) -> T {
    x
}

#[vectorize(f32)]
pub fn not_generic(x: f32) -> f32 {
    x
}

#[vectorize(f32)]
pub fn two<T: Float, S>(x: T, _: S) -> T {
    x
}

#[vectorize]
pub unsafe fn promises(x: f32) -> f32 {
    x
}

#[vectorize]
pub fn nothing(_: f32) {}

#[vectorize]
pub fn words(x: &'static str) -> usize {
    x.len()
}

#[vectorize(u32)]
pub fn bounded<T: Float>(x: T) -> T {
    x
}

#[vectorize(f32, i32)]
pub fn add<T: core::ops::Add<Output = T>>(a: T, b: T) -> T {
    a + b
}

#[vectorize]
pub fn single(a: f32, b: i32) -> f32 {
    a + b as f32
}

fn missing_signature(module: &Module, x: &Array1<f64>) -> Result<()> {
    add::apply(module, (x, x))?;
    Ok(())
}

fn other_types(module: &Module, x: &Array1<f32>, y: &Array1<u8>) -> Result<()> {
    single::apply(module, (x, y))?;
    Ok(())
}

fn wrong_number(module: &Module, x: &Array1<f32>) -> Result<()> {
    add::apply(module, (x,))?;
    Ok(())
}

fn no_tuple(module: &Module, x: &Array1<f32>) -> Result<()> {
    add::apply(module, x)?;
    Ok(())
}

fn not_binary(module: &Module, x: &Array1<f32>) -> Result<()> {
    single::reduce(module, x, Axis(0))?;
    Ok(())
}

fn no_operator(x: &Array1<u8>) {
    let _ = x + x;
}

fn main() {}
