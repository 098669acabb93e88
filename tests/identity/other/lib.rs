//! Kernels of another package, whose library has the same name.
#![no_std]

use gpu_std::{Constant, constant, prelude::*};

#[constant]
pub static SCALE: Constant<u32> = Constant::new(100);

/// The same signature, and another meaning.
#[kernel]
pub fn same(x: &[u32], y: PerThread<u32>) {
    for (i, y) in y {
        *y = x[i] + SCALE.get();
    }
}
