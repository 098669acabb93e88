#![allow(unused)]

use gpu_std::prelude::*;

#[kernel]
fn whole(x: &[f32], y: &mut [f32]) {
    y[0] = x[0];
}

#[kernel]
fn counter(count: &mut u32) {
    *count += 1;
}

fn main() {}
