#![allow(unused)]

use gpu_std::prelude::*;

#[kernel(blocks = 256)]
fn unknown() {}

#[kernel(block = 256, block = 128)]
fn twice() {}

#[kernel(block = (32, 0))]
fn empty() {}

#[kernel(block = (1, 2, 3, 4))]
fn many() {}

#[kernel(block = ())]
fn few() {}

#[kernel(min_blocks)]
fn no_value() {}

fn main() {}
