#![allow(unused)]

use gpu_std::prelude::*;

#[kernel]
fn single(factor: &f32, y: PerThread<f32>) {}

#[kernel]
fn array(table: &[f32; 16]) {}

#[kernel]
fn lifetime(x: &'static [f32]) {}

fn main() {}
