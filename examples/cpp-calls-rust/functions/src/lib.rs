//! Device functions in Rust for kernels in CUDA C++, and for Rust on the host.
#![no_std]

use gpu_std::{device, prelude::*};

/// A colour of linear light.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C)]
pub struct Rgb {
    /// Red.
    pub r: f32,
    /// Green.
    pub g: f32,
    /// Blue.
    pub b: f32,
}

/// How bright a colour is (ITU-R BT.709).
#[device(export)]
pub extern "C" fn luminance(colour: Rgb) -> f32 {
    0.2126 * colour.r + 0.7152 * colour.g + 0.0722 * colour.b
}

/// A colour with its brightness mapped into 0…1 (Reinhard).
#[device(export)]
pub extern "C" fn tone_mapped(colour: Rgb, exposure: f32) -> Rgb {
    let scale = exposure / (1.0 + exposure * luminance(colour));
    let map = |light: f32| (light * scale).max(0.0).sqrt();
    Rgb { r: map(colour.r), g: map(colour.g), b: map(colour.b) }
}
