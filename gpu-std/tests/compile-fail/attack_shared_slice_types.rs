//! Shared arrays whose length the launch gives hold plain data, and their lengths are part of the launch.

#![allow(unused)]

use gpu_std::{host::Kernel, prelude::*};

#[kernel]
fn references(part: SharedSlice<bool>) {}

#[kernel]
fn for_ever(part: SharedSlice<'static, f32>) {}

#[kernel]
fn of_slices(part: SharedSlice<&[f32]>) {}

fn main() {}
