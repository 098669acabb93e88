//! Special functions of f32 and f64, named as in CUDA C++: the error function and its relatives, the normal distribution,
//! the gamma function, Bessel's functions.
//!
//! They are functions and not methods because std is about to have methods of some of these names.
//!
//! ```
//! use gpu_std::{math::special::{erf, normcdf}, prelude::*};
//!
//! /// How much of a normal distribution lies within x standard deviations.
//! #[kernel]
//! pub fn within(x: &[f32], share: PerThread<f32>) {
//!     for (i, share) in share {
//!         *share = erf(x[i] * core::f32::consts::FRAC_1_SQRT_2);
//!     }
//! }
//!
//! assert!((normcdf(0.0_f64) - 0.5).abs() < 1e-15);
//! ```

use super::Sealed;

macro_rules! special {
    ($(
        $(#[$doc:meta])*
        $name:ident(x $(, $n:ident: $of:ty)?) = $f32:ident, $f64:ident, $host:path;
    )*) => {
        /// `f32` and `f64`, as arguments of the functions of this module.
        pub trait SpecialFloat: Copy + Sealed {
            $(#[doc(hidden)] fn $name($($n: $of,)? x: Self) -> Self;)*
        }

        $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $name<T: SpecialFloat>($($n: $of,)? x: T) -> T {
                T::$name($($n,)? x)
            }
        )*

        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            unsafe extern "C" {
                $(
                    safe fn $f32($($n: $of,)? x: f32) -> f32;
                    safe fn $f64($($n: $of,)? x: f64) -> f64;
                )*
            }

            impl SpecialFloat for f32 {
                $(#[inline(always)] fn $name($($n: $of,)? x: Self) -> Self { $f32($($n,)? x) })*
            }

            impl SpecialFloat for f64 {
                $(#[inline(always)] fn $name($($n: $of,)? x: Self) -> Self { $f64($($n,)? x) })*
            }
        };

        #[cfg(not(target_arch = "nvptx64"))]
        const _: () = {
            use super::host::{bessel, error_function};

            // In f64 and rounded, which is more exact than any function in f32.
            impl SpecialFloat for f32 {
                $(fn $name($($n: $of,)? x: Self) -> Self { $host($($n,)? f64::from(x)) as f32 })*
            }

            impl SpecialFloat for f64 {
                $(fn $name($($n: $of,)? x: Self) -> Self { $host($($n,)? x) })*
            }
        };
    };
}

special! {
    /// The error function, 2/√π ∫₀ˣ e^−t² dt. Error: 2, 2.
    erf(x) = __nv_erff, __nv_erf, libm::erf;
    /// 1 − erf(x), exact also where erf(x) is near 1. Error: 4, 5.
    erfc(x) = __nv_erfcf, __nv_erfc, libm::erfc;
    /// e^x² · erfc(x). Error: 4, 4.
    erfcx(x) = __nv_erfcxf, __nv_erfcx, error_function::erfcx;
    /// The inverse of [`erf`]: ±∞ at ±1, NaN beyond. Error: 2, 5.
    erfinv(x) = __nv_erfinvf, __nv_erfinv, error_function::erfinv;
    /// The inverse of [`erfc`]: ∞ at 0, −∞ at 2, NaN beyond. Error: 4, 6.
    erfcinv(x) = __nv_erfcinvf, __nv_erfcinv, error_function::erfcinv;
    /// The distribution function of the standard normal distribution. Error: 5, 5.
    normcdf(x) = __nv_normcdff, __nv_normcdf, error_function::normcdf;
    /// The inverse of [`normcdf`]: −∞ at 0, ∞ at 1, NaN beyond. Error: 5, 8.
    normcdfinv(x) = __nv_normcdfinvf, __nv_normcdfinv, error_function::normcdfinv;
    /// The gamma function: ±∞ at ±0, NaN at negative integers and −∞. Error: 5, 10.
    tgamma(x) = __nv_tgammaf, __nv_tgamma, libm::tgamma;
    /// The natural logarithm of |[`tgamma`]\(x)|. Error: 6, 4; more near the zeros between −24 and −2.
    lgamma(x) = __nv_lgammaf, __nv_lgamma, libm::lgamma;
    /// Bessel's function of the first kind of order 0. Error: 9, 7 for |x| < 8; beyond, 2.2·10⁻⁶ and 5·10⁻¹² absolute.
    j0(x) = __nv_j0f, __nv_j0, libm::j0;
    /// Bessel's function of the first kind of order 1. Error: as [`j0`].
    j1(x) = __nv_j1f, __nv_j1, libm::j1;
    /// Bessel's function of the first kind of order n; NaN for n < 0. Error: 2.2·10⁻⁶, 5·10⁻¹² absolute for n = 128.
    jn(x, n: i32) = __gpukernel_jn_f32, __gpukernel_jn_f64, bessel::jn;
    /// Bessel's function of the second kind of order 0; −∞ at 0, NaN below. Error: as [`j0`].
    y0(x) = __nv_y0f, __nv_y0, libm::y0;
    /// Bessel's function of the second kind of order 1; −∞ at 0, NaN below. Error: as [`j0`].
    y1(x) = __nv_y1f, __nv_y1, libm::y1;
    /// Bessel's function of the second kind of order n; NaN for n < 0. Error: 2 + 2.5 n for |x| < n, else absolute as [`jn`].
    yn(x, n: i32) = __nv_ynf, __nv_yn, bessel::yn;
    /// The modified Bessel function of the first kind of order 0. Error: 6, 6.
    cyl_bessel_i0(x) = __nv_cyl_bessel_i0f, __nv_cyl_bessel_i0, bessel::i0;
    /// The modified Bessel function of the first kind of order 1. Error: 6, 6.
    cyl_bessel_i1(x) = __nv_cyl_bessel_i1f, __nv_cyl_bessel_i1, bessel::i1;
}
