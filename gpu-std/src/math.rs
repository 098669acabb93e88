//! Mathematical functions of f32 and f64, named as in std, which kernel crates do not have.
//!
//! On the device: instructions where PTX has a correctly rounded one, NVIDIA's libdevice for the rest (maximum errors:
//! CUDA C++ Programming Guide, "Mathematical Functions"). On the host: std.

use crate::DeviceCopy;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// What std's `f32` and `f64` can and those of core cannot. `abs`, `signum`, `copysign`, `recip`, `min`, `max` and `clamp`
/// are in core.
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
pub trait Float: DeviceCopy + sealed::Sealed {
    /// The largest integer not above `self`.
    fn floor(self) -> Self;
    /// The smallest integer not below `self`.
    fn ceil(self) -> Self;
    /// The nearest integer; half-way cases away from 0.
    fn round(self) -> Self;
    /// The nearest integer; half-way cases to the even one.
    fn round_ties_even(self) -> Self;
    /// The integer part, rounded towards 0.
    fn trunc(self) -> Self;
    /// `self - self.trunc()`.
    fn fract(self) -> Self;
    /// `self * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The integer `q` such that `self = q * rhs + self.rem_euclid(rhs)`.
    fn div_euclid(self, rhs: Self) -> Self;
    /// The remainder of `self` by `rhs` that is not negative.
    fn rem_euclid(self, rhs: Self) -> Self;
    /// `self` to an integer power.
    fn powi(self, n: i32) -> Self;
    /// `self` to a power.
    fn powf(self, n: Self) -> Self;
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The reciprocal of the square root. Not in std; one instruction on the GPU for f32.
    fn rsqrt(self) -> Self;
    /// The cube root.
    fn cbrt(self) -> Self;
    /// The length of the vector `(self, other)`, without overflow in between.
    fn hypot(self, other: Self) -> Self;
    /// e to the power of `self`.
    fn exp(self) -> Self;
    /// 2 to the power of `self`.
    fn exp2(self) -> Self;
    /// `self.exp() - 1`, exact also near 0.
    fn exp_m1(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The logarithm to a base: `self.ln() / base.ln()`.
    fn log(self, base: Self) -> Self;
    /// The logarithm to base 2.
    fn log2(self) -> Self;
    /// The logarithm to base 10.
    fn log10(self) -> Self;
    /// `(1 + self).ln()`, exact also near 0.
    fn ln_1p(self) -> Self;
    /// The sine of an angle in radians.
    fn sin(self) -> Self;
    /// The cosine of an angle in radians.
    fn cos(self) -> Self;
    /// The sine and the cosine of an angle in radians.
    fn sin_cos(self) -> (Self, Self);
    /// The tangent of an angle in radians.
    fn tan(self) -> Self;
    /// The angle in −π/2…π/2 of which `self` is the sine.
    fn asin(self) -> Self;
    /// The angle in 0…π of which `self` is the cosine.
    fn acos(self) -> Self;
    /// The angle in −π/2…π/2 of which `self` is the tangent.
    fn atan(self) -> Self;
    /// The angle of the point (x = `other`, y = `self`).
    fn atan2(self, other: Self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The inverse of [`sinh`](Self::sinh).
    fn asinh(self) -> Self;
    /// The inverse of [`cosh`](Self::cosh).
    fn acosh(self) -> Self;
    /// The inverse of [`tanh`](Self::tanh).
    fn atanh(self) -> Self;
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! float {
    ($t:ident: $($name:ident($($arg:ident: $of:ty),*))*) => {
        impl Float for $t {
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

#[cfg(target_arch = "nvptx64")]
macro_rules! float {
    ($t:ident, sin_cos = $sin_cos:ident, rem = $rem:ident: $($name:ident($($arg:ident: $of:ty),*) = $function:ident;)*) => {
        const _: () = {
            unsafe extern "C" {
                $(safe fn $function(x: $t $(, $arg: $of)*) -> $t;)*
                /// Exact, which LLVM's expansion of `%` for nvptx64 is not: that divides, rounds and multiplies.
                safe fn $rem(x: $t, y: $t) -> $t;
                /// Writes the sine and the cosine.
                fn $sin_cos(x: $t, sin: *mut $t, cos: *mut $t);
            }

            impl Float for $t {
                $(
                    #[inline(always)]
                    fn $name(self $(, $arg: $of)*) -> Self {
                        $function(self $(, $arg)*)
                    }
                )*

                #[inline(always)]
                fn fract(self) -> Self {
                    self - Float::trunc(self)
                }

                #[inline(always)]
                fn div_euclid(self, rhs: Self) -> Self {
                    let q = Float::trunc(self / rhs);
                    match $rem(self, rhs) < 0.0 {
                        true if rhs > 0.0 => q - 1.0,
                        true => q + 1.0,
                        false => q,
                    }
                }

                #[inline(always)]
                fn rem_euclid(self, rhs: Self) -> Self {
                    let r = $rem(self, rhs);
                    if r < 0.0 { r + rhs.abs() } else { r }
                }

                #[inline(always)]
                fn log(self, base: Self) -> Self {
                    Float::ln(self) / Float::ln(base)
                }

                #[inline(always)]
                fn sin_cos(self) -> (Self, Self) {
                    let (mut sin, mut cos) = (0.0, 0.0);
                    // SAFETY: the function writes one number to each of the two places.
                    unsafe { $sin_cos(self, &mut sin, &mut cos) };
                    (sin, cos)
                }
            }
        };
    };
}

#[cfg(target_arch = "nvptx64")]
float! { f32, sin_cos = __nv_sincosf, rem = __nv_fmodf:
    floor() = __gpukernel_floor_f32;
    ceil() = __gpukernel_ceil_f32;
    round() = __nv_roundf;
    round_ties_even() = __gpukernel_round_ties_even_f32;
    trunc() = __gpukernel_trunc_f32;
    mul_add(a: f32, b: f32) = __gpukernel_mul_add_f32;
    powi(n: i32) = __nv_powif;
    powf(n: f32) = __nv_powf;
    sqrt() = __gpukernel_sqrt_f32;
    rsqrt() = __nv_rsqrtf;
    cbrt() = __nv_cbrtf;
    hypot(other: f32) = __nv_hypotf;
    exp() = __nv_expf;
    exp2() = __nv_exp2f;
    exp_m1() = __nv_expm1f;
    ln() = __nv_logf;
    log2() = __nv_log2f;
    log10() = __nv_log10f;
    ln_1p() = __nv_log1pf;
    sin() = __nv_sinf;
    cos() = __nv_cosf;
    tan() = __nv_tanf;
    asin() = __nv_asinf;
    acos() = __nv_acosf;
    atan() = __nv_atanf;
    atan2(other: f32) = __nv_atan2f;
    sinh() = __nv_sinhf;
    cosh() = __nv_coshf;
    tanh() = __nv_tanhf;
    asinh() = __nv_asinhf;
    acosh() = __nv_acoshf;
    atanh() = __nv_atanhf;
}

#[cfg(target_arch = "nvptx64")]
float! { f64, sin_cos = __nv_sincos, rem = __nv_fmod:
    floor() = __gpukernel_floor_f64;
    ceil() = __gpukernel_ceil_f64;
    round() = __nv_round;
    round_ties_even() = __gpukernel_round_ties_even_f64;
    trunc() = __gpukernel_trunc_f64;
    mul_add(a: f64, b: f64) = __gpukernel_mul_add_f64;
    powi(n: i32) = __nv_powi;
    powf(n: f64) = __nv_pow;
    sqrt() = __gpukernel_sqrt_f64;
    rsqrt() = __nv_rsqrt;
    cbrt() = __nv_cbrt;
    hypot(other: f64) = __nv_hypot;
    exp() = __nv_exp;
    exp2() = __nv_exp2;
    exp_m1() = __nv_expm1;
    ln() = __nv_log;
    log2() = __nv_log2;
    log10() = __nv_log10;
    ln_1p() = __nv_log1p;
    sin() = __nv_sin;
    cos() = __nv_cos;
    tan() = __nv_tan;
    asin() = __nv_asin;
    acos() = __nv_acos;
    atan() = __nv_atan;
    atan2(other: f64) = __nv_atan2;
    sinh() = __nv_sinh;
    cosh() = __nv_cosh;
    tanh() = __nv_tanh;
    asinh() = __nv_asinh;
    acosh() = __nv_acosh;
    atanh() = __nv_atanh;
}

#[cfg(test)]
mod tests {
    use super::Float;

    /// The trait's methods, called as a kernel crate does that knows nothing of std.
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
