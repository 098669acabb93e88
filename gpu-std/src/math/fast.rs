//! [`FastMath`]: a few instructions and a few digits, where a kernel asks for it by name.

use super::Sealed;

/// CUDA C++'s intrinsic functions (`__sinf`, `__fdividef`, …): some instructions of the special function unit, with errors
/// that grow outside of a small range (CUDA C++ Programming Guide, "Intrinsic Functions"). On the host they are as exact as f32
/// allows, so results differ by the errors given here. The reciprocal of the square root is fast as it is:
/// [`Float::rsqrt`](super::Float::rsqrt).
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// A sigmoid that is good to about 6 digits.
/// #[kernel]
/// pub fn sigmoid(x: &[f32], y: PerThread<f32>) {
///     for (i, y) in y {
///         *y = (1.0 + (-x[i]).fast_exp()).fast_recip();
///     }
/// }
/// ```
pub trait FastMath: Copy + Sealed {
    /// Sine. Absolute error 2^−21.41 within −π…π, larger elsewhere.
    fn fast_sin(self) -> Self;
    /// Cosine. Absolute error 2^−21.19 within −π…π, larger elsewhere.
    fn fast_cos(self) -> Self;
    /// Sine and cosine.
    fn fast_sin_cos(self) -> (Self, Self);
    /// Tangent: [`fast_sin`](Self::fast_sin) by [`fast_cos`](Self::fast_cos).
    fn fast_tan(self) -> Self;
    /// Hyperbolic tangent. Relative error 2^−10.98.
    fn fast_tanh(self) -> Self;
    /// e to the power of `self`. Error in ULP: 2 + ⌊|1.173 · `self`|⌋.
    fn fast_exp(self) -> Self;
    /// 2 to the power of `self`. Error in ULP: 2.
    fn fast_exp2(self) -> Self;
    /// 10 to the power of `self`. Error in ULP: 2 + ⌊|2.97 · `self`|⌋.
    fn fast_exp10(self) -> Self;
    /// Natural logarithm. Absolute error 2^−21.41 within ½…2, 3 ULP elsewhere.
    fn fast_ln(self) -> Self;
    /// Logarithm to base 2. Absolute error 2^−22 within ½…2, 2 ULP elsewhere.
    fn fast_log2(self) -> Self;
    /// Logarithm to base 10. Absolute error 2^−24 within ½…2, 3 ULP elsewhere.
    fn fast_log10(self) -> Self;
    /// Power: 2 to `n` times the logarithm, so the error grows with that product.
    fn fast_powf(self, n: Self) -> Self;
    /// Quotient. 2 ULP for |`rhs`| within 2^−126…2^126; 0 or NaN for larger ones.
    fn fast_div(self, rhs: Self) -> Self;
    /// Reciprocal. 1 ULP.
    fn fast_recip(self) -> Self;
    /// Square root. 2 ULP.
    fn fast_sqrt(self) -> Self;
}

#[cfg(not(target_arch = "nvptx64"))]
impl FastMath for f32 {
    fn fast_sin(self) -> Self {
        self.sin()
    }
    fn fast_cos(self) -> Self {
        self.cos()
    }
    fn fast_sin_cos(self) -> (Self, Self) {
        self.sin_cos()
    }
    fn fast_tan(self) -> Self {
        self.tan()
    }
    fn fast_tanh(self) -> Self {
        self.tanh()
    }
    fn fast_exp(self) -> Self {
        self.exp()
    }
    fn fast_exp2(self) -> Self {
        self.exp2()
    }
    fn fast_exp10(self) -> Self {
        libm::exp10f(self)
    }
    fn fast_ln(self) -> Self {
        self.ln()
    }
    fn fast_log2(self) -> Self {
        self.log2()
    }
    fn fast_log10(self) -> Self {
        self.log10()
    }
    fn fast_powf(self, n: Self) -> Self {
        self.powf(n)
    }
    fn fast_div(self, rhs: Self) -> Self {
        self / rhs
    }
    fn fast_recip(self) -> Self {
        1.0 / self
    }
    fn fast_sqrt(self) -> Self {
        self.sqrt()
    }
}

#[cfg(target_arch = "nvptx64")]
macro_rules! fast {
    ($($name:ident($($arg:ident),*) = $function:ident;)*) => {
        unsafe extern "C" {
            $(safe fn $function(x: f32 $(, $arg: f32)*) -> f32;)*
        }

        impl FastMath for f32 {
            $(
                #[inline(always)]
                fn $name(self $(, $arg: f32)*) -> f32 {
                    $function(self $(, $arg)*)
                }
            )*

            #[inline(always)]
            fn fast_sin_cos(self) -> (f32, f32) {
                (self.fast_sin(), self.fast_cos())
            }

            #[inline(always)]
            fn fast_tanh(self) -> f32 {
                unsafe extern "C" {
                    safe fn __gpukernel_fast_tanh(x: f32) -> f32;
                }
                if crate::arch() >= 80 {
                    return __gpukernel_fast_tanh(self);
                }
                if self.abs() < 0.03 {
                    return self;
                }
                // sm_75 has the instruction, but the PTX version that LLVM writes for it has not.
                let e = (self.abs() * (2.0 * core::f32::consts::LOG2_E)).fast_exp2();
                (1.0 - 2.0 * (e + 1.0).fast_recip()).copysign(self)
            }
        }
    };
}

#[cfg(target_arch = "nvptx64")]
fast! {
    fast_sin() = __nv_fast_sinf;
    fast_cos() = __nv_fast_cosf;
    fast_tan() = __nv_fast_tanf;
    fast_exp() = __nv_fast_expf;
    fast_exp2() = __gpukernel_fast_exp2;
    fast_exp10() = __nv_fast_exp10f;
    fast_ln() = __nv_fast_logf;
    fast_log2() = __nv_fast_log2f;
    fast_log10() = __nv_fast_log10f;
    fast_powf(n) = __nv_fast_powf;
    fast_div(rhs) = __nv_fast_fdividef;
    fast_recip() = __gpukernel_fast_recip;
    fast_sqrt() = __gpukernel_fast_sqrt;
}
