//! Numbers, and functions of random numbers, of a user.

use core::ops::{Add, Mul};

use bytemuck::{Pod, Zeroable};
use gpu_std::{
    prelude::*,
    rng::{Generator, Philox4x32},
};
use gpukernel_algorithms_kernels::{Sample, fill_with, histogram, matrix_product};

/// An amount of money.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, DeviceCopy, Pod, Zeroable)]
#[repr(transparent)]
pub struct Cents(pub i64);

impl Sample for Cents {
    /// Of amounts that divide by seven, a bin that is none.
    fn bin(self, low: Self, high: Self, bins: u32) -> u32 {
        match self.0 % 7 {
            0 => u32::MAX - 4095,
            _ => ((self.0 - low.0) as u64 * u64::from(bins) / (high.0 - low.0) as u64) as u32,
        }
    }
}

histogram! {
    pub mod histogram_of_cents = Cents;
}

/// A length of a path and one, or 0 for none: products of matrices have the shortest paths of two steps.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy, Pod, Zeroable)]
#[repr(transparent)]
pub struct Path(pub u32);

impl Add for Path {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(if self.0 == 0 || other.0 == 0 { self.0 | other.0 } else { self.0.min(other.0) })
    }
}

impl Mul for Path {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(if self.0 == 0 || other.0 == 0 { 0 } else { self.0 + other.0 - 1 })
    }
}

matrix_product! {
    pub mod shortest_paths = Path;
}

/// A point of the plane.
pub type Point = [f32; 2];

gpu_std::device_fn! {
    /// A point in a disk around the origin, all of which are as likely.
    pub InDisk { radius: f32 } = |rng: Philox4x32| -> Point {
        let mut rng = rng;
        loop {
            let point = [(); 2].map(|()| rng.uniform::<f32>() * 2.0 - 1.0);
            if point[0] * point[0] + point[1] * point[1] < 1.0 {
                return point.map(|x| x * radius);
            }
        }
    }
}

fill_with! {
    pub mod in_disk = InDisk of Point;
}
