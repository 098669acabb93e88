//! Types and operators of a user.
#![no_std]

pub mod numbers;

use bytemuck::{Pod, Zeroable};
use gpu_std::prelude::{collective::Operator, *};
use gpukernel_algorithms_kernels::{
    Identity, SegmentValue, SortKey, reduce_by_key, reduction, scan, select_if, sort_key, unique,
};

/// A function `x ↦ a·x + b` of numbers modulo 2³², in a struct of an odd number of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceCopy, Pod, Zeroable)]
#[repr(C)]
pub struct Affine {
    /// The factor.
    pub a: u32,
    /// What is added.
    pub b: u32,
    /// How many functions it is made of.
    pub count: u32,
}

/// Composes functions: not commutative.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compose;

impl Operator<Affine> for Compose {
    fn combine(&self, first: Affine, second: Affine) -> Affine {
        Affine {
            a: first.a.wrapping_mul(second.a),
            b: second.a.wrapping_mul(first.b).wrapping_add(second.b),
            count: first.count.wrapping_add(second.count),
        }
    }
}

impl Identity<Affine> for Compose {
    const IDENTITY: Affine = Affine { a: 1, b: 0, count: 0 };
}

scan! {
    pub mod compose = Compose of Affine;
}

unique! {
    pub mod unique_functions = Affine;
}

// SAFETY: 12 bytes, aligned to 4.
unsafe impl SegmentValue for Affine {}

/// A cell of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceCopy, Pod, Zeroable)]
#[repr(C)]
pub struct Cell {
    /// Its row.
    pub row: u16,
    /// Its column.
    pub column: u16,
    /// Its layer.
    pub layer: u16,
}

reduce_by_key! {
    pub mod compose_each_cell = Compose of Cell, Affine;
}

gpu_std::device_fn! {
    /// Whether a number is above a limit; of a million it is not known.
    pub Above { limit: u64 } = |x: u64| -> bool {
        assert!(x != 1_000_000, "a large number");
        x > limit
    }
}

gpu_std::device_fn! {
    /// Whether a function has an odd factor.
    pub HasOddFactor {} = |f: Affine| -> bool { f.a % 2 == 1 }
}

select_if! {
    pub mod above = Above of u64;
    pub mod has_odd_factor = HasOddFactor of Affine;
}

/// The sum, which panics of numbers above a million.
#[derive(Clone, Copy, Debug, Default)]
pub struct SumOfSmall;

impl Operator<u64> for SumOfSmall {
    fn combine(&self, first: u64, second: u64) -> u64 {
        assert!(first <= 1_000_000 && second <= 1_000_000, "a large number");
        first + second
    }
}

impl Identity<u64> for SumOfSmall {
    const IDENTITY: u64 = 0;
}

/// What numbers have in common, in a struct of an odd number of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceCopy, Pod, Zeroable)]
#[repr(C)]
pub struct Extremes {
    /// The least.
    pub least: i32,
    /// The largest.
    pub most: i32,
    /// How many there are.
    pub count: u32,
}

/// Those of the numbers of both.
#[derive(Clone, Copy, Debug, Default)]
pub struct Both;

impl Operator<Extremes> for Both {
    fn combine(&self, a: Extremes, b: Extremes) -> Extremes {
        Extremes { least: a.least.min(b.least), most: a.most.max(b.most), count: a.count + b.count }
    }
}

impl Identity<Extremes> for Both {
    const IDENTITY: Extremes = Extremes { least: i32::MAX, most: i32::MIN, count: 0 };
}

reduction! {
    pub mod sum_of_small = SumOfSmall of u64;
    pub mod both_extremes = Both of Extremes;
}

scan! {
    pub mod running_sum_of_small = SumOfSmall of u64;
}

/// A key of a user, in a struct with padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceCopy)]
#[repr(C)]
pub struct Version {
    /// Compared last.
    pub patch: u8,
    /// Compared first.
    pub major: u16,
    /// What is not compared.
    pub id: u32,
}

impl SortKey for Version {
    type Word = u32;

    fn to_word(&self) -> u32 {
        u32::from(self.major) << 8 | u32::from(self.patch)
    }
}

sort_key! {
    pub mod versions = Version;
}
