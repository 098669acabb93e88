//! What cannot be in an array or a struct of parameters.

#![allow(unused)]

use gpu_std::prelude::*;

/// Not plain data, and not memory.
struct Host(Vec<f32>);

#[derive(KernelParam)]
struct WithHost<'k> {
    input: &'k [f32],
    host: Host,
}

#[derive(KernelParam)]
struct WithShared<'k> {
    input: &'k [f32],
    shared: Shared<'k, f32, 32>,
}

#[derive(KernelParam)]
struct Writes<'k> {
    output: &'k mut [f32],
}

#[derive(KernelParam)]
struct Pointers<'k>(&'k [f32], *mut f32);

#[derive(KernelParam)]
struct Data {
    x: f32,
}

#[derive(KernelParam)]
struct TwoLifetimes<'a, 'b> {
    x: &'a [f32],
    y: &'b [f32],
}

#[derive(KernelParam)]
enum Either<'k> {
    Input(&'k [f32]),
}

#[derive(KernelParam)]
union Any<'k> {
    input: &'k [f32],
}

#[kernel]
fn writes(y: [&mut [f32]; 2]) {}

#[kernel]
fn pointers(y: [*const f32; 2]) {}

#[kernel]
fn shared(y: [Shared<f32, 32>; 2]) {}

#[kernel]
fn host(y: [Host; 2]) {}

#[kernel(requires = y.len() > 3)]
fn requires(y: [&[f32]; 2]) {}

fn main() {}
