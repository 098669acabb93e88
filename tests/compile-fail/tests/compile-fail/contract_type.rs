#![allow(unused)]

use gpu_std::prelude::*;

const WIDTH: usize = 32;

#[kernel(block = WIDTH)]
fn wide() {}

#[kernel(block = "32")]
fn text() {}

fn main() {}
