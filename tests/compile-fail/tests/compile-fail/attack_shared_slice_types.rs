//! Shared arrays whose length the launch gives hold plain data, and their lengths are part of the launch.

#![allow(unused)]

use gpu_std::{host::Kernel, prelude::*};

#[derive(Clone, Copy, DeviceCopy)]
#[repr(u8)]
enum Choice {
    First = 1,
}

#[kernel]
fn choices(part: SharedSlice<Choice>) {}

#[kernel]
fn for_ever(part: SharedSlice<'static, f32>) {}

#[kernel]
fn of_slices(part: SharedSlice<&[f32]>) {}

fn main() {}
