//! Staged arrays of what is not plain data.

use gpu_std::prelude::*;

#[derive(Clone, Copy, DeviceCopy)]
#[repr(u8)]
pub enum Side {
    Left = 1,
    Right = 2,
}

#[kernel]
pub fn not_of_any_bytes(part: Staged<Side, 32>) {
    drop(part);
}

fn main() {}
