//! Special functions of f32 and f64, named as in CUDA C++: error functions, the normal distribution, the gamma function, Bessel
//! functions. Errors are in ULP, for f32 and f64.
//!
//! They are functions and not methods because std is about to have methods of some of these names.
//!
//! ```
//! use gpu_std::{math::special::{erf, normcdf}, prelude::*};
//!
//! /// The share of a normal distribution within x standard deviations.
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

            // Computed in f64 and rounded, which is more accurate than computing in f32.
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
    #[doc(alias = "erff")]
    erf(x) = __nv_erff, __nv_erf, libm::erf;
    /// The complementary error function, 1 − erf(x), accurate also where erf(x) is near 1. Error: 4, 5.
    #[doc(alias = "erfcf")]
    erfc(x) = __nv_erfcf, __nv_erfc, libm::erfc;
    /// The scaled complementary error function, e^x² · erfc(x). Error: 4, 4.
    #[doc(alias = "erfcxf")]
    erfcx(x) = __nv_erfcxf, __nv_erfcx, error_function::erfcx;
    /// The inverse of [`erf`]: ±∞ at ±1, NaN beyond. Error: 2, 5.
    #[doc(alias = "erfinvf")]
    erfinv(x) = __nv_erfinvf, __nv_erfinv, error_function::erfinv;
    /// The inverse of [`erfc`]: ∞ at 0, −∞ at 2, NaN beyond. Error: 4, 6.
    #[doc(alias = "erfcinvf")]
    erfcinv(x) = __nv_erfcinvf, __nv_erfcinv, error_function::erfcinv;
    /// The cumulative distribution function of the standard normal distribution. Error: 5, 5.
    #[doc(alias = "normcdff")]
    normcdf(x) = __nv_normcdff, __nv_normcdf, error_function::normcdf;
    /// The inverse of [`normcdf`]: −∞ at 0, ∞ at 1, NaN beyond. Error: 5, 8.
    #[doc(alias = "normcdfinvf")]
    normcdfinv(x) = __nv_normcdfinvf, __nv_normcdfinv, error_function::normcdfinv;
    /// The gamma function: ±∞ at ±0, NaN at negative integers and −∞. Error: 5, 10.
    #[doc(alias = "tgammaf", alias = "gamma")]
    tgamma(x) = __nv_tgammaf, __nv_tgamma, libm::tgamma;
    /// The natural logarithm of |[`tgamma`]\(x)|. Error: 6, 4; larger near the zeros between −24 and −2.
    #[doc(alias = "lgammaf", alias = "ln_gamma")]
    lgamma(x) = __nv_lgammaf, __nv_lgamma, libm::lgamma;
    /// The Bessel function of the first kind of order 0. Error: 9, 7 for |x| < 8; beyond, 2.2·10⁻⁶ and 5·10⁻¹² absolute.
    #[doc(alias = "j0f")]
    j0(x) = __nv_j0f, __nv_j0, libm::j0;
    /// The Bessel function of the first kind of order 1. Error: as [`j0`].
    #[doc(alias = "j1f")]
    j1(x) = __nv_j1f, __nv_j1, libm::j1;
    /// The Bessel function of the first kind of order n; NaN for n < 0. Error: 2.2·10⁻⁶, 5·10⁻¹² absolute for n = 128.
    #[doc(alias = "jnf")]
    jn(x, n: i32) = __gpukernel_jn_f32, __gpukernel_jn_f64, bessel::jn;
    /// The Bessel function of the second kind of order 0; −∞ at 0, NaN below. Error: as [`j0`].
    #[doc(alias = "y0f")]
    y0(x) = __nv_y0f, __nv_y0, libm::y0;
    /// The Bessel function of the second kind of order 1; −∞ at 0, NaN below. Error: as [`j0`].
    #[doc(alias = "y1f")]
    y1(x) = __nv_y1f, __nv_y1, libm::y1;
    /// The Bessel function of the second kind of order n; NaN for n < 0. Error: 2 + 2.5 n for |x| < n, else absolute as [`jn`].
    #[doc(alias = "ynf")]
    yn(x, n: i32) = __nv_ynf, __nv_yn, bessel::yn;
    /// The modified Bessel function of the first kind of order 0. Error: 6, 6.
    #[doc(alias = "cyl_bessel_i0f")]
    cyl_bessel_i0(x) = __nv_cyl_bessel_i0f, __nv_cyl_bessel_i0, bessel::i0;
    /// The modified Bessel function of the first kind of order 1. Error: 6, 6.
    #[doc(alias = "cyl_bessel_i1f")]
    cyl_bessel_i1(x) = __nv_cyl_bessel_i1f, __nv_cyl_bessel_i1, bessel::i1;
}
