#![allow(unused)]

use gpu_std::prelude::*;

#[kernel]
fn sum(x: &[f32]) -> f32 {
    x[0]
}

#[kernel]
fn unit(x: &[f32]) -> () {}

fn main() {}
