#![allow(unused)]

use gpu_std::prelude::*;

const NONE: u32 = 0;

#[kernel(block = (32, NONE))]
fn empty() {}

#[kernel(block = (64, 64))]
fn large() {}

#[kernel(max_block = 128, block = 256)]
fn more_than_most() {}

#[kernel(block = (8, 8), dims = 1)]
fn flat() {}

#[kernel(min_blocks = 2)]
fn alone() {}

#[kernel(block = 32_usize)]
fn wide() {}

fn main() {}
