//! Vector types (`float2`, `float3`, `float4`, …): two or four numbers of at most 16 bytes that one instruction loads or stores, and three
//! numbers.
//!
//! The fields of a struct are loaded one by one if the struct is aligned like its fields. The alignment of these types is their size,
//! so that a GPU loads 8 or 16 bytes per thread and instruction (`ld.global.nc.v4.f32`), which it needs to reach the full memory
//! bandwidth with few threads.
//!
//! Vectors of three, such as `f32x3`, are for points and colours: plain structs of 12 or 24 bytes, aligned like their lanes and loaded
//! lane by lane, as CUDA's `float3`.
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
//! The host uploads plain numbers and passes them as vectors: `buffer.cast::<f32x4>()`. A kernel splits a slice of numbers into vectors
//! and the elements before and after them with [`Vector::aligned`].

use core::slice;

use bytemuck::Pod;

use crate::DeviceCopy;

mod types;

pub(crate) use sealed::Sealed;
pub use types::*;

/// A vector type: those of this module, [`f16x2`](struct@crate::half::f16x2) and [`bf16x2`](struct@crate::half::bf16x2).
pub trait Vector: DeviceCopy + Pod + Sealed {
    /// The type of a lane.
    type Element: DeviceCopy + Pod;

    /// The number of lanes.
    const LANES: usize;

    /// Creates a vector with the same value in every lane.
    fn splat(value: Self::Element) -> Self;

    /// Splits a slice into the elements before the first aligned vector, the vectors, and the elements after the last full vector
    /// (`slice::align_to`).
    #[doc(alias = "align_to", alias = "reinterpret_cast")]
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

    /// Views vectors as a slice of their elements.
    #[inline(always)]
    fn elements(vectors: &[Self]) -> &[Self::Element] {
        // SAFETY: a vector is `LANES` elements without gaps, and aligned for them.
        unsafe { slice::from_raw_parts(vectors.as_ptr().cast(), vectors.len() * Self::LANES) }
    }
}

mod sealed {
    pub trait Sealed {}
}
