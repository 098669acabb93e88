//! Code for a GPU comes from a build of the program's kernels, or somebody promises what it does.

#![allow(unused)]

use gpukernel::{Device, ForeignModule, Image, Result};

const BYTES: &[u8] = b"machine code";

/// What `image!` calls.
static BUILT: Image = Image::__from_build(BYTES, &[]);

/// Bytes in the program.
static STATIC: Image = Image::from_static(BYTES);

/// Bytes of a file.
fn read(bytes: Vec<u8>) -> Image {
    Image::from_bytes(bytes)
}

/// Machine code that says how long it is.
fn foreign(device: &Device, bytes: &[u8]) -> Result<ForeignModule> {
    device.load_foreign(bytes)
}

/// An image in a folder that no build script wrote.
static ELSEWHERE: Image = gpukernel::image!("../somewhere");

fn main() {}
