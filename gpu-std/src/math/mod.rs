//! Mathematical functions of numbers: those of std, which kernel crates do not have, and those that only GPUs' libraries have.
//!
//! | what | where |
//! |---|---|
//! | std's methods of `f32` and `f64` | [`Float`] |
//! | more elementary functions: `sin_pi`, `exp10`, `ldexp`, `remainder`, norms, … | [`FloatExt`] |
//! | special functions: `erf`, `tgamma`, Bessel's, the normal distribution's | [`special`] |
//! | one rounding mode per operation | [`RoundedArithmetic`] |
//! | few instructions, few digits | [`FastMath`] |
//! | bit fields, high halves of products, dot products of bytes | [`bits`] |
//!
//! On the device: instructions where PTX has a correctly rounded one, NVIDIA's libdevice for the rest. The errors given are in
//! units in the last place (ULP), f32 then f64, from the tables of the CUDA C++ Programming Guide ("Mathematical
//! Functions"). On the host: std, the crate `libm`, and functions of our own, all within the same errors.

pub mod bits;
#[cfg(target_arch = "nvptx64")]
mod device;
mod fast;
mod float;
mod float_ext;
#[cfg(not(target_arch = "nvptx64"))]
mod host;
mod rounding;
pub mod special;

pub use fast::FastMath;
pub use float::Float;
pub use float_ext::FloatExt;
pub use rounding::{RoundedArithmetic, Rounding};

pub(crate) use sealed::Sealed;

mod sealed {
    /// Only `f32` and `f64` are floats here, so that functions can be added to the traits.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}
