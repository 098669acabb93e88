//! `AsyncShared` arrays of types that are not plain data.

use gpu_std::prelude::{*, async_copy::*};

#[derive(Clone, Copy, DeviceCopy)]
#[repr(u8)]
pub enum Side {
    Left = 1,
    Right = 2,
}

#[kernel]
pub fn not_of_any_bytes(part: AsyncShared<Side, 32>) {
    drop(part);
}

fn main() {}
