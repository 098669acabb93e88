//! [`Float`] on the device: instructions where PTX has a correctly rounded one, libdevice for the rest.

use super::Float;

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
                #[inline(always)]
                fn from_f64(x: f64) -> Self {
                    x as $t
                }

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
