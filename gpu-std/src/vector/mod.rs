//! Vectors of two and four numbers that are loaded and stored as one: at most 16 bytes, one instruction. And of three.
//!
//! The fields of a struct are loaded one by one where the struct is aligned like its fields. These types are aligned like their
//! size, so that a GPU moves 8 or 16 bytes per thread and instruction (`ld.global.nc.v4.f32`), which is what it takes to
//! reach the memory's full rate with few threads.
//!
//! Vectors of three, `f32x3` and others, are for points and colours: plain structs of 12 or 24 bytes, aligned like their lanes and
//! loaded lane by lane, as CUDA's `float3`.
//!
//! ```
//! use gpu_std::{prelude::*, vector::f32x4};
//!
//! /// y = a·x + y, four elements per thread.
//! #[kernel]
//! pub fn saxpy(a: f32, x: &[f32x4], y: PerThread<f32x4>) {
//!     for (i, y) in y {
//!         *y += x[i] * a;
//!     }
//! }
//! ```
//!
//! The host uploads plain numbers and lends them as vectors: `buffer.cast::<f32x4>()`. A kernel that has a slice of numbers makes
//! vectors of its middle: [`Vector::aligned`].

use core::slice;

use bytemuck::Pod;

use crate::DeviceCopy;

mod types;

pub(crate) use sealed::Sealed;
pub use types::*;

/// One of the types of this module.
pub trait Vector: DeviceCopy + Pod + Sealed {
    /// What it has `LANES` of.
    type Element: DeviceCopy + Pod;

    /// How many elements there are.
    const LANES: usize;

    /// Every lane the same.
    fn splat(value: Self::Element) -> Self;

    /// Elements as vectors, with those in front that are not aligned for one and those behind that do not fill one.
    ///
    /// ```
    /// use gpu_std::vector::{Vector, f32x4};
    ///
    /// let vectors: Vec<f32x4> = (0..3).map(|i| f32x4::splat(i as f32)).collect();
    /// let numbers = f32x4::elements(&vectors);
    /// let (front, middle, back) = f32x4::aligned(&numbers[1..10]);
    /// assert_eq!((front.len(), middle, back.len()), (3, &vectors[1..2], 2));
    /// ```
    #[inline(always)]
    fn aligned(elements: &[Self::Element]) -> (&[Self::Element], &[Self], &[Self::Element]) {
        // SAFETY: both types are plain data of which any bytes are a value, and a vector is its elements without gaps.
        unsafe { elements.align_to() }
    }

    /// Vectors as their elements.
    #[inline(always)]
    fn elements(vectors: &[Self]) -> &[Self::Element] {
        // SAFETY: a vector is `LANES` elements without gaps, and aligned for them.
        unsafe { slice::from_raw_parts(vectors.as_ptr().cast(), vectors.len() * Self::LANES) }
    }
}

mod sealed {
    pub trait Sealed {}
}
