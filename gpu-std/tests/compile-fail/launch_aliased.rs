//! One buffer cannot be read and written by the same launch.

#![allow(unused)]

use gpu_std::{
    host::{RawRows, RawSlice, Runtime, SafeKernel},
    prelude::*,
};

enum Mock {}

impl Runtime for Mock {
    type Slice<T: DeviceCopy> = Vec<T>;
    type RowsMut<'a, T: DeviceCopy> = &'a mut [T];
    fn raw_slice<T: DeviceCopy>(_: &Vec<T>) -> RawSlice {
        unimplemented!()
    }
    fn raw_rows<T: DeviceCopy>(_: &&mut [T]) -> RawRows {
        unimplemented!()
    }
}

fn launch<K: SafeKernel>(_: K, _: K::Args<'_, Mock>) {}

#[kernel]
fn shift(x: &[f32], y: PerThread<f32>) {}

#[kernel]
fn both(y: &[Atomic<u32>], z: PerThread<u32>) {}

fn main() {
    let mut x = vec![1.0];
    launch(shift, (&x, &mut x));
    let mut y = vec![1];
    launch(both, (&mut y, &mut y));
}
