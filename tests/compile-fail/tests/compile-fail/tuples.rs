//! Memory has no tuples in it, by value they have plain data in them.

use gpu_std::prelude::*;

#[kernel]
fn slices_of_tuples(x: &[(f32, u32)]) {}

#[kernel]
fn outputs_of_tuples(y: PerThread<(f32, u32)>) {}

#[kernel]
fn shared_tuples(y: Shared<(f32, u32), 32>) {}

#[kernel]
fn tuples_of_references(y: (f32, &[u32])) {}

#[kernel]
fn tuples_in_tuples(y: (f32, (u32, u8))) {}

type Pair = (f32, u32);

#[kernel]
fn slices_of_aliases(x: &[Pair]) {}

fn main() {}
