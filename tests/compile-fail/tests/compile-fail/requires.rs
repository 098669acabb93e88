//! What a kernel requires is checked before the launch, so it is about arguments alone.

use gpu_std::prelude::*;

// The elements are not known before the launch.
#[kernel(requires = x[0] > 0.0)]
fn asks_an_element(x: &[f32]) {}

// Neither is the place of a thread.
#[kernel(requires = thread_index().x < 32)]
fn asks_a_thread(x: &[f32]) {}

// Shared arrays are no arguments.
#[kernel(requires = part.len() > x.len())]
fn asks_a_shared_array(x: &[f32], part: Shared<f32, 32>) {}

// A name that is no parameter is a mistake.
#[kernel(requires = x.len() > limit)]
fn asks_an_unknown_name(x: &[f32]) {}

// A condition has an end.
#[kernel(requires = x.len() > )]
fn asks_half(x: &[f32]) {}

// Comparisons have one result.
#[kernel(requires = 1 < n < 3)]
fn asks_a_chain(n: u32) {}

fn main() {}
