//! Random points of the unit square, and how many of them lie within the circle: one subsequence of points per thread.
#![no_std]
#![forbid(unsafe_code)]

use gpu_std::{
    prelude::*,
    rng::{Generator, Xoroshiro128Plus},
};

/// How many of the next `points` points are at most 1 away from the origin.
///
/// The points are those that Numba's `xoroshiro128p_uniform_float32` gives.
pub fn inside(rng: &mut Xoroshiro128Plus, points: u32) -> u32 {
    let mut count = 0;
    for _ in 0..points {
        let (x, y) = (rng.uniform_rounded(), rng.uniform_rounded());
        // In `x * x + y * y` the GPU would round once less than the CPU, and points on the circle would count on one of them
        // only. Where `mul_add` rounds is the same everywhere.
        count += u32::from(x.mul_add(x, y * y) <= 1.0);
    }
    count
}

/// Counts the points within the circle, `points` of them per thread, with a state per thread made from one seed.
#[kernel]
pub fn count_inside(seed: u64, points: u32, counts: PerThread<u32>) {
    for (thread, count) in counts {
        let mut rng = Xoroshiro128Plus::subsequence(seed, thread as u64);
        *count = inside(&mut rng, points);
    }
}
