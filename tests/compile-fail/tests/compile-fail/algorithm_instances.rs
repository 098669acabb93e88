//! Kernels of algorithms that cannot be declared for a type or an operator.

use bytemuck::{Pod, Zeroable};
use gpu_std::prelude::{
    collective::{Operator, Product},
    *,
};
use gpukernel_algorithms_kernels::{SortKey, reduction, sort_key};

#[derive(Clone, Copy, DeviceCopy, Pod, Zeroable)]
#[repr(C)]
pub struct Point {
    x: f32,
    y: f32,
}

/// The operator has no identity.
#[derive(Clone, Copy, Debug, Default)]
pub struct First;

impl Operator<f32> for First {
    fn combine(&self, first: f32, _: f32) -> f32 {
        first
    }
}

reduction! {
    pub mod first = First of f32;
}

// Neither the operator nor the type is of this crate.
reduction! {
    pub mod product_of_floats = Product of f32;
}

// Points have no order.
sort_key! {
    pub mod points = Point;
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct Small(u8);

/// Words have 32 or 64 bits.
impl SortKey for Small {
    type Word = u16;

    fn to_word(&self) -> u16 {
        self.0.into()
    }
}

fn main() {}
