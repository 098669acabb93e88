//! Contracts that no launch can keep, found when their constants are computed.

#![allow(unused)]

use gpu_std::prelude::*;

const MANY: u32 = 4;

#[kernel(cluster = (MANY, MANY))]
fn large_cluster() {}

#[kernel(cluster = (1, 2), dims = 1)]
fn flat_cluster() {}

#[kernel(shared_bytes = 1 - 1)]
fn no_memory() {}

fn main() {}
