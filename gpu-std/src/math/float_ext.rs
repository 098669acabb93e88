//! [`FloatExt`]: elementary functions that libdevice has and std does not.

use super::{Float, Sealed};

/// Elementary functions that CUDA C++ has and std does not. `scalbn` is [`ldexp`](Self::ldexp), `nextafter` is
/// [`next_after`](Self::next_after), `norm3d` is [`hypot3`](Self::hypot3). Errors are in ULP, for f32 and f64.
///
/// ```
/// use gpu_std::prelude::*;
///
/// // A twiddle factor of a Fourier transform: exact at multiples of a quarter turn.
/// let (sin, cos) = (-0.5_f32).sin_cos_pi();
/// assert_eq!((sin, cos), (-1.0, 0.0));
/// ```
pub trait FloatExt: Float + Sealed {
    /// The reciprocal of the cube root. Error: 1, 1.
    #[doc(alias = "rcbrtf")]
    fn rcbrt(self) -> Self;
    /// 10 to the power of `self`. Error: 2, 1.
    #[doc(alias = "exp10f")]
    fn exp10(self) -> Self;
    /// The sine of `self` · π (`sinpi`). Error: 1, 2.
    #[doc(alias = "sinpi", alias = "sinpif")]
    fn sin_pi(self) -> Self;
    /// The cosine of `self` · π (`cospi`). Error: 1, 2.
    #[doc(alias = "cospi", alias = "cospif")]
    fn cos_pi(self) -> Self;
    /// The sine and the cosine of `self` · π (`sincospi`). Error: 1, 2.
    #[doc(alias = "sincospi", alias = "sincospif")]
    fn sin_cos_pi(self) -> (Self, Self);
    /// The tangent of `self` · π, as the quotient of sine and cosine. Error: 3, 4.
    #[doc(alias = "tanpi")]
    fn tan_pi(self) -> Self;
    /// `self - rhs` if that is positive, else 0; NaN if either is NaN.
    #[doc(alias = "fdimf")]
    fn fdim(self, rhs: Self) -> Self;
    /// `self` · 2ⁿ, rounded once (`ldexp`, `scalbn`).
    #[doc(alias = "ldexpf", alias = "scalbn", alias = "scalbln")]
    fn ldexp(self, n: i32) -> Self;
    /// Splits `self` into a fraction of magnitude ½…1 and an exponent of 2. Zeros, infinities and NaN are returned unchanged, with exponent 0.
    #[doc(alias = "frexpf")]
    fn frexp(self) -> (Self, i32);
    /// The exponent of `self`, the integer e with 2ᵉ ≤ |`self`| < 2ᵉ⁺¹, as a float: −∞ for 0, ∞ for infinities.
    #[doc(alias = "logbf")]
    fn logb(self) -> Self;
    /// The exponent of `self` as an integer: `i32::MIN` for 0 and NaN, `i32::MAX` for infinities.
    #[doc(alias = "ilogbf")]
    fn ilogb(self) -> i32;
    /// The next float after `self` in the direction of `toward`, or `toward` if they are equal (`nextafter`).
    #[doc(alias = "nextafter", alias = "nextafterf")]
    fn next_after(self, toward: Self) -> Self;
    /// The IEEE 754 remainder `self - n * rhs`, exact, where n is the integer nearest to the quotient, ties to even.
    #[doc(alias = "remainderf")]
    fn remainder(self, rhs: Self) -> Self;
    /// [`remainder`](Self::remainder), and the last three bits of the quotient's magnitude with the quotient's sign. 0 bits if
    /// the remainder is NaN.
    fn remquo(self, rhs: Self) -> (Self, i32);
    /// Splits `self` into its fraction and its integer part, both with the sign of `self`.
    #[doc(alias = "modff")]
    fn modf(self) -> (Self, Self);
    /// The reciprocal of [`hypot`](Float::hypot). Error: 2, 1.
    #[doc(alias = "rhypotf")]
    fn rhypot(self, other: Self) -> Self;
    /// The length of the vector `(self, y, z)`, without intermediate overflow (`norm3d`). Error: 3, 2.
    #[doc(alias = "norm3d", alias = "norm3df")]
    fn hypot3(self, y: Self, z: Self) -> Self;
    /// The reciprocal of [`hypot3`](Self::hypot3) (`rnorm3d`). Error: 2, 1.
    #[doc(alias = "rnorm3d", alias = "rnorm3df")]
    fn rhypot3(self, y: Self, z: Self) -> Self;
    /// The length of the vector `(self, y, z, w)`, without intermediate overflow (`norm4d`). Error: 3, 2.
    #[doc(alias = "norm4d", alias = "norm4df")]
    fn hypot4(self, y: Self, z: Self, w: Self) -> Self;
    /// The reciprocal of [`hypot4`](Self::hypot4) (`rnorm4d`). Error: 2, 1.
    #[doc(alias = "rnorm4d", alias = "rnorm4df")]
    fn rhypot4(self, y: Self, z: Self, w: Self) -> Self;
    /// Clamps `self` to 0…1 (`__saturatef`); 0 for NaN.
    #[doc(alias = "__saturatef")]
    fn saturate(self) -> Self;
}

/// Methods that are the same on the device and the host.
macro_rules! common {
    () => {
        #[inline(always)]
        fn tan_pi(self) -> Self {
            let (sin, cos) = self.sin_cos_pi();
            sin / cos
        }

        #[inline(always)]
        fn remquo(self, rhs: Self) -> (Self, i32) {
            let (remainder, quotient) = remquo(self, rhs);
            if remainder.is_nan() {
                return (remainder, 0);
            }
            // C asks for at least three bits, and libraries differ in how many they give.
            let bits = (quotient.unsigned_abs() & 7) as i32;
            let negative = self.is_sign_negative() != rhs.is_sign_negative();
            (remainder, if negative { -bits } else { bits })
        }
    };
}

macro_rules! saturate_by_comparison {
    () => {
        #[inline(always)]
        fn saturate(self) -> Self {
            // Comparisons with NaN are false.
            match self > 0.0 {
                true if self < 1.0 => self,
                true => 1.0,
                false => 0.0,
            }
        }
    };
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! float_ext {
    ($t:ident: $ldexp:ident $frexp:ident $ilogb:ident $nextafter:ident $remainder:ident $remquo:ident $fdim:ident) => {
        const _: () = {
            use super::host::elementary as host;
            use libm::$remquo as remquo;

            impl FloatExt for $t {
                common!();
                saturate_by_comparison!();

                // In f64, so that the f32 result is rounded from a far more accurate one.
                fn rcbrt(self) -> Self {
                    host::rcbrt(self.into()) as $t
                }
                fn exp10(self) -> Self {
                    libm::exp10(self.into()) as $t
                }
                fn sin_pi(self) -> Self {
                    host::sin_cos_pi(self.into()).0 as $t
                }
                fn cos_pi(self) -> Self {
                    host::sin_cos_pi(self.into()).1 as $t
                }
                fn sin_cos_pi(self) -> (Self, Self) {
                    let (sin, cos) = host::sin_cos_pi(self.into());
                    (sin as $t, cos as $t)
                }
                fn fdim(self, rhs: Self) -> Self {
                    libm::$fdim(self, rhs)
                }
                fn ldexp(self, n: i32) -> Self {
                    libm::$ldexp(self, n)
                }
                fn frexp(self) -> (Self, i32) {
                    match self == 0.0 || !self.is_finite() {
                        true => (self, 0),
                        false => libm::$frexp(self),
                    }
                }
                fn logb(self) -> Self {
                    match self == 0.0 || !self.is_finite() {
                        true if self == 0.0 => $t::NEG_INFINITY,
                        true => self.abs(),
                        false => libm::$ilogb(self) as $t,
                    }
                }
                fn ilogb(self) -> i32 {
                    libm::$ilogb(self)
                }
                fn next_after(self, toward: Self) -> Self {
                    libm::$nextafter(self, toward)
                }
                fn remainder(self, rhs: Self) -> Self {
                    libm::$remainder(self, rhs)
                }
                fn modf(self) -> (Self, Self) {
                    let whole = self.trunc();
                    let fraction = if self.is_infinite() { 0.0 } else { self - whole };
                    (fraction.copysign(self), whole)
                }
                fn rhypot(self, other: Self) -> Self {
                    host::rnorm([self.into(), other.into(), 0.0, 0.0]) as $t
                }
                fn hypot3(self, y: Self, z: Self) -> Self {
                    host::norm([self.into(), y.into(), z.into(), 0.0]) as $t
                }
                fn rhypot3(self, y: Self, z: Self) -> Self {
                    host::rnorm([self.into(), y.into(), z.into(), 0.0]) as $t
                }
                fn hypot4(self, y: Self, z: Self, w: Self) -> Self {
                    host::norm([self.into(), y.into(), z.into(), w.into()]) as $t
                }
                fn rhypot4(self, y: Self, z: Self, w: Self) -> Self {
                    host::rnorm([self.into(), y.into(), z.into(), w.into()]) as $t
                }
            }
        };
    };
}

#[cfg(not(target_arch = "nvptx64"))]
float_ext!(f32: ldexpf frexpf ilogbf nextafterf remainderf remquof fdimf);
#[cfg(not(target_arch = "nvptx64"))]
float_ext!(f64: ldexp frexp ilogb nextafter remainder remquo fdim);

#[cfg(target_arch = "nvptx64")]
macro_rules! float_ext {
    (
        $t:ident, $sin_cos_pi:ident, $frexp:ident, $modf:ident, $remquo:ident, $ldexp:ident, $ilogb:ident:
        $($name:ident($($arg:ident),*) = $function:ident;)*
        { $($own:ident)? }
    ) => {
        const _: () = {
            unsafe extern "C" {
                $(safe fn $function(x: $t $(, $arg: $t)*) -> $t;)*
                safe fn $ldexp(x: $t, n: i32) -> $t;
                safe fn $ilogb(x: $t) -> i32;
                // These write their second result to the pointer.
                fn $sin_cos_pi(x: $t, sin: *mut $t, cos: *mut $t);
                fn $frexp(x: $t, exponent: *mut i32) -> $t;
                fn $modf(x: $t, whole: *mut $t) -> $t;
                fn $remquo(x: $t, y: $t, quotient: *mut i32) -> $t;
            }

            #[inline(always)]
            fn remquo(x: $t, y: $t) -> ($t, i32) {
                let mut quotient = 0;
                // SAFETY: the function writes one integer to the place.
                let remainder = unsafe { $remquo(x, y, &mut quotient) };
                (remainder, quotient)
            }

            impl FloatExt for $t {
                common!();
                $($own!();)?

                $(
                    #[inline(always)]
                    fn $name(self $(, $arg: Self)*) -> Self {
                        $function(self $(, $arg)*)
                    }
                )*

                #[inline(always)]
                fn sin_cos_pi(self) -> (Self, Self) {
                    let (mut sin, mut cos) = (0.0, 0.0);
                    // SAFETY: the function writes one number to each of the two places.
                    unsafe { $sin_cos_pi(self, &mut sin, &mut cos) };
                    (sin, cos)
                }

                #[inline(always)]
                fn ldexp(self, n: i32) -> Self {
                    $ldexp(self, n)
                }

                #[inline(always)]
                fn ilogb(self) -> i32 {
                    $ilogb(self)
                }

                #[inline(always)]
                fn frexp(self) -> (Self, i32) {
                    let mut exponent = 0;
                    // SAFETY: the function writes one integer to the place.
                    let fraction = unsafe { $frexp(self, &mut exponent) };
                    (fraction, exponent)
                }

                #[inline(always)]
                fn modf(self) -> (Self, Self) {
                    let mut whole = 0.0;
                    // SAFETY: the function writes one number to the place.
                    let fraction = unsafe { $modf(self, &mut whole) };
                    (fraction, whole)
                }
            }
        };
    };
}

#[cfg(target_arch = "nvptx64")]
float_ext! { f32, __nv_sincospif, __nv_frexpf, __nv_modff, __nv_remquof, __nv_ldexpf, __nv_ilogbf:
    rcbrt() = __nv_rcbrtf;
    exp10() = __nv_exp10f;
    sin_pi() = __nv_sinpif;
    cos_pi() = __nv_cospif;
    fdim(rhs) = __nv_fdimf;
    logb() = __nv_logbf;
    next_after(toward) = __nv_nextafterf;
    remainder(rhs) = __nv_remainderf;
    rhypot(other) = __nv_rhypotf;
    hypot3(y, z) = __nv_norm3df;
    rhypot3(y, z) = __nv_rnorm3df;
    hypot4(y, z, w) = __nv_norm4df;
    rhypot4(y, z, w) = __nv_rnorm4df;
    saturate() = __nv_saturatef;
    {}
}

#[cfg(target_arch = "nvptx64")]
float_ext! { f64, __nv_sincospi, __nv_frexp, __nv_modf, __nv_remquo, __nv_ldexp, __nv_ilogb:
    rcbrt() = __nv_rcbrt;
    exp10() = __nv_exp10;
    sin_pi() = __nv_sinpi;
    cos_pi() = __nv_cospi;
    fdim(rhs) = __nv_fdim;
    logb() = __nv_logb;
    next_after(toward) = __nv_nextafter;
    remainder(rhs) = __nv_remainder;
    rhypot(other) = __nv_rhypot;
    hypot3(y, z) = __nv_norm3d;
    rhypot3(y, z) = __nv_rnorm3d;
    hypot4(y, z, w) = __nv_norm4d;
    rhypot4(y, z, w) = __nv_rnorm4d;
    { saturate_by_comparison }
}
