#![allow(unused)]

use gpu_std::prelude::*;

#[kernel]
fn texts(texts: &[String]) {}

#[kernel]
fn text(text: String) {}

#[kernel]
fn outputs(y: PerThread<Vec<f32>>) {}

#[kernel]
fn atomics(y: &[Atomic<u8>]) {}

#[kernel]
fn pair(pair: (f32, f32)) {}

/// Zero bytes are none of these.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(u8)]
enum Choice {
    First = 1,
}

#[kernel]
fn choices(choices: Shared<Choice, 32>) {}

fn main() {}
