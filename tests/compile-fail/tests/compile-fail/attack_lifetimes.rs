//! A kernel cannot say how long it has its memory.

#![allow(unused)]

use gpu_std::prelude::*;

#[kernel]
fn hide_the_lifetime(x: View2d<'static, f32>) {}

#[kernel]
fn not_plain(x: View2d<&'static str>) {}

#[kernel]
fn tiles_for_ever(x: BlockTiles2d<'static, f32, 8, 8>) {}

#[kernel]
fn sums_for_ever(x: PerBlock<'static, f32>) {}

fn main() {}
