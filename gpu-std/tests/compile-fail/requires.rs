//! What a kernel requires is checked before the launch, so it is about arguments alone.

use gpu_std::prelude::*;

fn host_only(len: usize) -> bool {
    len > 7
}

// A function may answer differently on the host and on the device.
#[kernel(requires = host_only(x.len()))]
fn asks_a_function(x: &[f32]) {}

// The elements are not known before the launch.
#[kernel(requires = x[0] > 0.0)]
fn asks_an_element(x: &[f32]) {}

// Neither is the place of a thread.
#[kernel(requires = thread_index().x < 32)]
fn asks_a_thread(x: &[f32]) {}

// Shared arrays are no arguments.
#[kernel(requires = part.len() > x.len())]
fn asks_a_shared_array(x: &[f32], part: Shared<f32, 32>) {}

// A macro may expand to anything.
#[kernel(requires = cfg!(target_arch = "nvptx64"))]
fn asks_the_target(x: &[f32]) {}

// A constant by its path may be another one on the device.
#[kernel(requires = x.len() > other::LIMIT)]
fn asks_a_path(x: &[f32]) {}

// A condition is true or false.
#[kernel(requires = x.len())]
fn asks_nothing(x: &[f32]) {}

fn main() {}
