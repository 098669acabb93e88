#![allow(unused)]

use gpu_std::{host::Body, prelude::*};

#[kernel]
fn lent<'a>(x: &'a [f32]) {}

#[kernel]
fn lent_generic<'a, T: DeviceCopy>(x: &'a [T]) {}

#[kernel]
fn count()
where
    [u8; 4]: Copy,
{
}

#[kernel]
fn hidden(value: impl DeviceCopy) {}

gpu_std::instantiate!(hidden);

fn main() {}
