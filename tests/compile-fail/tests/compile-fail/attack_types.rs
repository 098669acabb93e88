//! The host does not reach into device memory, takes it for another type, or puts there what has no meaning there.

#![allow(unused)]

use std::num::NonZeroU32;

use gpukernel::{Buffer, Device, DeviceSlice, Image, Result};

/// Reads an element on the host.
fn host_index(x: Buffer<f32>) -> f32 {
    x[0]
}

/// Reads all elements on the host.
fn host_loop(x: Buffer<f32>) {
    for element in &x {}
}

/// Sees device memory as a slice of the host.
fn host_slice(x: &Buffer<f32>) -> &[f32] {
    x
}

/// Exchanges slices, and with them what buffers own.
fn swapped(mut x: Buffer<f32>, mut y: Buffer<f32>) {
    std::mem::swap(&mut x[..], &mut y[..]);
}

/// Reads bytes as truth values.
fn another_type(x: Buffer<u8>) -> Buffer<bool> {
    x
}

/// Copies bytes to truth values.
fn copied_as_another_type(x: &Buffer<u8>, y: &mut Buffer<bool>) -> Result<()> {
    y.copy_from_device(x)
}

/// Makes zeros of a type that has none.
fn impossible_zeros(device: &Device) -> Result<Buffer<NonZeroU32>> {
    device.zeroed(4)
}

/// Puts pointers to the host's memory on a device.
fn pointers(device: &Device, x: &[&'static f32]) {
    device.upload(x);
}

/// Puts what owns memory of the host on a device, which would make two owners of it.
fn two_owners(device: &Device) {
    device.filled(4, String::from("one"));
}

/// Takes any bytes for compiled kernels.
fn any_image() -> Image {
    Image::from_bytes(vec![0; 100])
}

/// Takes a name for compiled kernels.
fn image_by_name(device: &Device) {
    device.load("kernels");
}

/// Takes a file for compiled kernels.
fn image_of_a_file(device: &Device, file: &[u8]) {
    device.load(file);
}

fn main() {}
