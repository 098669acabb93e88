//! [`Float`]: the methods of std's `f32` and `f64` that core does not have, and their implementation on the host.

use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, Sub, SubAssign};

use super::Sealed;
use crate::warp::LaneNumber;

/// Mathematical functions of `f32` and `f64`: std's methods that core does not have. The others are in core: `abs`, `signum`,
/// `copysign`, `recip`, `min`, `max`, `clamp`, `midpoint`, `to_degrees`, `to_radians`, `total_cmp`, `next_up`, `next_down`, `is_nan`, `classify`,
/// `to_bits` and their like.
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn norm(x: &[f32], y: &[f32], length: PerThread<f32>) {
///     for (i, length) in length {
///         *length = x[i].mul_add(x[i], y[i] * y[i]).sqrt();
///     }
/// }
/// ```
///
/// Generic functions compute with it, too:
///
/// ```
/// use gpu_std::prelude::*;
///
/// fn logistic<T: Float>(x: T) -> T {
///     let one = T::from_f64(1.0);
///     one / (one + (-x).exp())
/// }
///
/// assert_eq!((logistic(0.0_f32), logistic(0.0_f64)), (0.5, 0.5));
/// ```
pub trait Float:
    LaneNumber
    + PartialOrd
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Sealed
{
    /// The nearest number of this type: for constants in generic functions.
    fn from_f64(x: f64) -> Self;
    /// The largest integer not above `self`.
    #[doc(alias = "floorf")]
    fn floor(self) -> Self;
    /// The smallest integer not below `self`.
    #[doc(alias = "ceilf")]
    fn ceil(self) -> Self;
    /// The nearest integer; half-way cases are rounded away from 0.
    #[doc(alias = "roundf")]
    fn round(self) -> Self;
    /// The nearest integer; half-way cases are rounded to the even one (`rint`, `nearbyint`).
    #[doc(alias = "rint", alias = "rintf", alias = "nearbyint", alias = "roundeven")]
    fn round_ties_even(self) -> Self;
    /// The integer part, rounded towards 0.
    #[doc(alias = "truncf")]
    fn trunc(self) -> Self;
    /// `self - self.trunc()`.
    fn fract(self) -> Self;
    /// Fused multiply-add `self * a + b`, rounded once (`fma`, `fmaf`).
    #[doc(alias = "fma", alias = "cuda.fma", alias = "fmaf")]
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The integer `q` such that `self = q * rhs + self.rem_euclid(rhs)`.
    fn div_euclid(self, rhs: Self) -> Self;
    /// The non-negative remainder of `self` divided by `rhs`.
    fn rem_euclid(self, rhs: Self) -> Self;
    /// Raises `self` to an integer power.
    #[doc(alias = "pow", alias = "powif")]
    fn powi(self, n: i32) -> Self;
    /// Raises `self` to a floating-point power (`pow`).
    #[doc(alias = "pow")]
    fn powf(self, n: Self) -> Self;
    /// The square root, correctly rounded.
    #[doc(alias = "sqrtf")]
    fn sqrt(self) -> Self;
    /// The reciprocal of the square root. Not in std; one instruction on the GPU for f32.
    #[doc(alias = "rsqrtf")]
    fn rsqrt(self) -> Self;
    /// The cube root.
    #[doc(alias = "cbrtf")]
    fn cbrt(self) -> Self;
    /// The length of the vector `(self, other)`, without intermediate overflow.
    #[doc(alias = "hypotf")]
    fn hypot(self, other: Self) -> Self;
    /// The exponential function, e to the power of `self`.
    #[doc(alias = "expf")]
    fn exp(self) -> Self;
    /// 2 to the power of `self`.
    #[doc(alias = "exp2f")]
    fn exp2(self) -> Self;
    /// `self.exp() - 1`, accurate also near 0 (`expm1`).
    #[doc(alias = "expm1", alias = "expm1f")]
    fn exp_m1(self) -> Self;
    /// The natural logarithm (`log` of C).
    #[doc(alias = "log", alias = "logf")]
    fn ln(self) -> Self;
    /// The logarithm to a base: `self.ln() / base.ln()`.
    fn log(self, base: Self) -> Self;
    /// The logarithm to base 2.
    #[doc(alias = "log2f")]
    fn log2(self) -> Self;
    /// The logarithm to base 10.
    #[doc(alias = "log10f")]
    fn log10(self) -> Self;
    /// `(1 + self).ln()`, accurate also near 0 (`log1p`).
    #[doc(alias = "log1p", alias = "log1pf")]
    fn ln_1p(self) -> Self;
    /// The sine of an angle in radians.
    #[doc(alias = "sinf")]
    fn sin(self) -> Self;
    /// The cosine of an angle in radians.
    #[doc(alias = "cosf")]
    fn cos(self) -> Self;
    /// The sine and the cosine of an angle in radians (`sincos`).
    #[doc(alias = "sincos", alias = "sincosf")]
    fn sin_cos(self) -> (Self, Self);
    /// The tangent of an angle in radians.
    #[doc(alias = "tanf")]
    fn tan(self) -> Self;
    /// The arc sine of `self`, in −π/2…π/2.
    #[doc(alias = "asinf")]
    fn asin(self) -> Self;
    /// The arc cosine of `self`, in 0…π.
    #[doc(alias = "acosf")]
    fn acos(self) -> Self;
    /// The arc tangent of `self`, in −π/2…π/2.
    #[doc(alias = "atanf")]
    fn atan(self) -> Self;
    /// The angle of the point (x = `other`, y = `self`), in −π…π.
    #[doc(alias = "atan2f")]
    fn atan2(self, other: Self) -> Self;
    /// The hyperbolic sine.
    #[doc(alias = "sinhf")]
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    #[doc(alias = "coshf")]
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    #[doc(alias = "tanhf")]
    fn tanh(self) -> Self;
    /// The inverse hyperbolic sine.
    #[doc(alias = "asinhf")]
    fn asinh(self) -> Self;
    /// The inverse hyperbolic cosine.
    #[doc(alias = "acoshf")]
    fn acosh(self) -> Self;
    /// The inverse hyperbolic tangent.
    #[doc(alias = "atanhf")]
    fn atanh(self) -> Self;
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! float {
    ($t:ident: $($name:ident($($arg:ident: $of:ty),*))*) => {
        impl Float for $t {
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $t
            }

            $(
                #[inline]
                fn $name(self $(, $arg: $of)*) -> Self {
                    $t::$name(self $(, $arg)*)
                }
            )*

            #[inline]
            fn rsqrt(self) -> Self {
                1.0 / $t::sqrt(self)
            }

            #[inline]
            fn sin_cos(self) -> (Self, Self) {
                $t::sin_cos(self)
            }
        }
    };
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! floats {
    ($($t:ident)*) => {$(
        float! { $t:
            floor() ceil() round() round_ties_even() trunc() fract() mul_add(a: $t, b: $t)
            div_euclid(rhs: $t) rem_euclid(rhs: $t) powi(n: i32) powf(n: $t) sqrt() cbrt() hypot(other: $t)
            exp() exp2() exp_m1() ln() log(base: $t) log2() log10() ln_1p()
            sin() cos() tan() asin() acos() atan() atan2(other: $t)
            sinh() cosh() tanh() asinh() acosh() atanh()
        }
    )*};
}

#[cfg(not(target_arch = "nvptx64"))]
floats!(f32 f64);

#[cfg(test)]
mod tests {
    use super::Float;

    /// Calls the trait's methods as a `no_std` kernel crate does.
    fn through_trait<T: Float>(x: T, y: T) -> [T; 31] {
        let (sin, cos) = x.sin_cos();
        [
            x.floor(),
            x.ceil(),
            x.round(),
            x.round_ties_even(),
            x.trunc(),
            x.fract(),
            x.mul_add(y, x),
            x.div_euclid(y),
            x.rem_euclid(y),
            x.powi(3),
            x.powf(y),
            x.sqrt(),
            x.cbrt(),
            x.hypot(y),
            x.exp(),
            x.exp2(),
            x.exp_m1(),
            x.ln(),
            x.log(y),
            x.log2(),
            x.log10(),
            x.ln_1p(),
            sin,
            cos,
            x.tan(),
            x.atan2(y),
            x.sinh(),
            x.cosh(),
            x.tanh(),
            x.asinh(),
            x.acosh(),
        ]
    }

    #[test]
    fn methods_are_those_of_std() {
        let (x, y) = (2.5_f64, 1.75_f64);
        #[rustfmt::skip]
        let expected = [
            2.0, 3.0, 3.0, 2.0, 2.0, 0.5, x * y + x, 1.0, 0.75, 15.625, x.powf(y), x.sqrt(), x.cbrt(), x.hypot(y),
            x.exp(), x.exp2(), x.exp_m1(), x.ln(), x.log(y), x.log2(), x.log10(), x.ln_1p(), x.sin(), x.cos(), x.tan(),
            x.atan2(y), x.sinh(), x.cosh(), x.tanh(), x.asinh(), x.acosh(),
        ];
        assert_eq!(through_trait(x, y), expected);
        for (value, expected) in through_trait(x as f32, y as f32).into_iter().zip(expected) {
            assert!((f64::from(value) - expected).abs() <= 1e-5 * expected.abs(), "{value} {expected}");
        }
    }

    #[test]
    fn inverse_functions_invert() {
        fn check<T: Float + PartialEq + core::fmt::Debug>(half: T, near: impl Fn(T, T) -> bool) {
            assert!(near(half.asin().sin(), half));
            assert!(near(half.acos().cos(), half));
            assert!(near(half.atan().tan(), half));
            assert!(near(half.atanh().tanh(), half));
            assert!(near(half.rsqrt().powi(-2), half));
        }
        check(0.5_f32, |a, b| (a - b).abs() < 1e-6);
        check(0.5_f64, |a, b| (a - b).abs() < 1e-15);
    }
}
