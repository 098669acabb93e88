//! Pipelines and reductions on every device of the machine, against std's iterators.

mod arrays;
mod attacks;
mod reductions;
mod rows;

use gpu_std::DeviceCopy;
use gpukernel::Device;
use gpukernel_array::{Array1, ArrayView, Result};
use ndarray::{Ix1, s};

/// Lengths around those of chunks, warps, tiles and grids.
const LENGTHS: [usize; 19] =
    [0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 255, 256, 257, 1023, 1025, 4096, 4097, 70_001];

/// Calls `test` with elements of each length, on the device, and the same on the host: aligned, and not.
fn with_each_length<T: DeviceCopy>(
    device: &Device,
    element: impl Fn(usize) -> T,
    test: impl Fn(ArrayView<'_, T, Ix1>, &[T]) -> Result<()>,
) -> Result<()> {
    for len in LENGTHS {
        for before in [0, 1] {
            let all: Vec<T> = (0..before + len).map(&element).collect();
            let array: Array1<T> = Array1::from_vec(device, &all)?;
            test(array.slice(s![before..])?, &all[before..])?;
        }
    }
    Ok(())
}

/// A number that looks random.
fn noise(i: usize) -> u32 {
    let x = (i as u32).wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d) ^ x >> 7
}
