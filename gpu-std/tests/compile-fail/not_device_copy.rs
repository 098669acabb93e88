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

#[kernel]
fn flags(flags: Shared<bool, 32>) {}

fn main() {}
