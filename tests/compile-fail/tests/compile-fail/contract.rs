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

#[kernel(min_blocks_per_sm)]
fn no_value() {}

#[kernel(no_panics = true)]
fn a_value() {}

#[kernel(no_panics, no_panics)]
fn promised_twice() {}

#[kernel(cluster = (2, 0))]
fn empty_cluster() {}

#[kernel(cluster = (1, 1, 1, 1))]
fn many_axes() {}

#[kernel(shared_bytes = 0)]
fn no_memory() {}

#[kernel(shared_bytes = 1024, shared_bytes = 2048)]
fn shared_twice() {}

fn main() {}
