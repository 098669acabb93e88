//! Calls of algorithms with types, operators and predicates for which there are no kernels.

use bytemuck::{Pod, Zeroable};
use gpu_std::prelude::*;
use gpukernel::DeviceSlice;
use gpukernel_algorithms::{Algorithms, ByKey, Max, Product, Result, Sum};

#[derive(Clone, Copy, DeviceCopy, Pod, Zeroable)]
#[repr(C)]
pub struct Point {
    x: f32,
    y: f32,
}

/// There are bytes without a value in it.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct Padded {
    small: u8,
    large: u32,
}

gpu_std::device_fn! {
    pub Above { limit: f32 } = |x: f32| -> bool { x > limit }
}

type Memory<T> = DeviceSlice<T>;

/// Sums of numbers of 32 and 64 bits ship.
fn sum_of_bytes(algorithms: &Algorithms, x: &Memory<u8>) -> Result<u8> {
    algorithms.reduce(x, Sum)
}

fn sum_of_points(algorithms: &Algorithms, x: &Memory<Point>) -> Result<Point> {
    algorithms.reduce(x, Sum)
}

fn sum_of_padded(algorithms: &Algorithms, x: &Memory<Padded>) -> Result<Padded> {
    algorithms.reduce(x, Sum)
}

/// `Sum`, `Min` and `Max` ship.
fn product(algorithms: &Algorithms, x: &Memory<f32>) -> Result<f32> {
    algorithms.reduce(x, Product)
}

fn reduction_by_a_closure(algorithms: &Algorithms, x: &Memory<f32>) -> Result<f32> {
    algorithms.reduce(x, |a: f32, b: f32| a + b)
}

/// Scans by `Sum` ship.
fn running_maximum(algorithms: &Algorithms, x: &Memory<f32>, y: &mut Memory<f32>) -> Result<()> {
    algorithms.inclusive_scan(x, Max, y)
}

fn sort_of_bytes(algorithms: &Algorithms, keys: &mut Memory<u8>) -> Result<()> {
    algorithms.sort(keys)
}

fn search_of_points(algorithms: &Algorithms, keys: &Memory<Point>, places: &mut Memory<u64>) -> Result<()> {
    algorithms.lower_bound(keys, keys, places)
}

fn selection_by_a_closure(algorithms: &Algorithms, x: &Memory<f32>, y: &mut Memory<f32>) -> Result<usize> {
    algorithms.select_if(x, |x: f32| x > 0.0, y)
}

fn selection_without_kernels(algorithms: &Algorithms, x: &Memory<f32>, y: &mut Memory<f32>) -> Result<usize> {
    algorithms.select_if(x, Above { limit: 0.0 }, y)
}

fn distinct_points(algorithms: &Algorithms, x: &Memory<Point>, y: &mut Memory<Point>) -> Result<usize> {
    algorithms.unique(x, y)
}

/// They are cast to unsigned ones.
fn sums_of_signed_keys(
    algorithms: &Algorithms,
    (keys, values): (&Memory<i32>, &Memory<f32>),
    out: ByKey<'_, i32, f32>,
) -> Result<usize> {
    algorithms.reduce_by_key(keys, values, Sum, out)
}

fn sums_of_bytes_by_key(
    algorithms: &Algorithms,
    (keys, values): (&Memory<u32>, &Memory<u8>),
    out: ByKey<'_, u32, u8>,
) -> Result<usize> {
    algorithms.reduce_by_key(keys, values, Sum, out)
}

fn histogram_of_u64(algorithms: &Algorithms, x: &Memory<u64>, counts: &mut Memory<u64>) -> Result<()> {
    algorithms.histogram(x, 0..100, counts)
}

fn product_of_integers(algorithms: &Algorithms, x: &Memory<i32>, y: &mut Memory<i32>) -> Result<()> {
    algorithms.matmul(x, x, [2, 2, 2], y)
}

fn random_bits_of_floats(algorithms: &Algorithms, x: &mut Memory<f32>) -> Result<()> {
    algorithms.fill_random(1, x)
}

fn integers_of_a_range(algorithms: &Algorithms, x: &mut Memory<i32>) -> Result<()> {
    algorithms.fill_uniform(1, 0..6, x)
}

fn normal_integers(algorithms: &Algorithms, x: &mut Memory<i32>) -> Result<()> {
    algorithms.fill_normal(1, 0, 10, x)
}

fn main() {}
