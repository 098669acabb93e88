//! Mathematical functions: std's, which `no_std` crates lack, and those of CUDA's math library.
//!
//! | what | where |
//! |---|---|
//! | std's methods of `f32` and `f64` | [`Float`] |
//! | more elementary functions: `sin_pi`, `exp10`, `ldexp`, `remainder`, norms, … | [`FloatExt`] |
//! | special functions: `erf`, `tgamma`, Bessel functions, the normal distribution | [`special`] |
//! | arithmetic with a rounding mode (`__fadd_rd`, …) | [`RoundedArithmetic`] |
//! | fast approximations (`__sinf`, `__expf`, …) | [`FastMath`] |
//! | integer intrinsics: bit fields, `__umulhi`, `__byte_perm`, `__dp4a`, … | [`bits`] |
//!
//! On the device, functions are PTX instructions where there is a correctly rounded one, and NVIDIA's libdevice otherwise. Errors
//! are given in units in the last place (ULP), f32 then f64, from the tables of the CUDA C++ Programming Guide ("Mathematical
//! Functions"). On the host, functions are those of std, of the crate `libm` and of this crate, all within the same errors.

#[doc(
    alias = "__popc",
    alias = "__popcll",
    alias = "__clz",
    alias = "__clzll",
    alias = "__brev",
    alias = "__brevll"
)]
#[doc(alias = "popc", alias = "clz", alias = "brev")]
#[doc(alias = "cuda.popc", alias = "cuda.clz", alias = "cuda.brev")]
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
    /// Seals the traits, so that functions can be added to them.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}
