#![allow(unused)]

use gpu_std::prelude::*;

#[kernel]
fn fill<T: DeviceCopy>(value: T, y: PerThread<T>) {}

#[kernel]
fn lent<'a>(x: &'a [f32]) {}

#[kernel]
fn count<const N: usize>()
where
    [u8; N]: Copy,
{
}

#[kernel]
fn hidden(value: impl DeviceCopy) {}

fn main() {}
