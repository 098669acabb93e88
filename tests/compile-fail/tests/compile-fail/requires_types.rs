//! What has no meaning in a condition is refused by its type.

use gpu_std::prelude::*;

// A condition is true or false.
#[kernel(requires = x.len())]
fn asks_nothing(x: &[f32]) {}

// A slice has no rows.
#[kernel(requires = x.rows() > 1)]
fn asks_rows_of_a_slice(x: &[f32]) {}

// A matrix has no layers.
#[kernel(requires = x.layers() > 1)]
fn asks_layers_of_a_matrix(x: View2d<f32>) {}

// A matrix has strides.
#[kernel(requires = x.align() >= 16)]
fn asks_the_alignment_of_a_matrix(x: View2d<f32>) {}

// A slice has a length.
#[kernel(requires = x.shape() == y.shape())]
fn asks_the_shape_of_slices(x: &[f32], y: PerThread<f32>) {}

// Shapes are equal or not.
#[kernel(requires = x.shape() == 4)]
fn compares_a_shape_with_a_number(x: elementwise::ViewNdOrScalar<f32>) {}

// A number has no length.
#[kernel(requires = n.len() > 1)]
fn asks_the_length_of_a_number(n: usize) {}

// Memory is no number.
#[kernel(requires = x > 1)]
fn asks_memory(x: &[f32]) {}

// Types do not convert by themselves.
#[kernel(requires = n <= x.len())]
fn asks_two_types(x: &[f32], n: u32) {}

// The device may round otherwise.
#[kernel(requires = a * b > 1.0)]
fn computes_with_floats(a: f32, b: f32) {}

// Conversions of floating-point numbers round.
#[kernel(requires = a as u32 > 1)]
fn converts_a_float(a: f32) {}

fn main() {}
