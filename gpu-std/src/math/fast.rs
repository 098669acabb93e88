//! [`FastMath`]: fast approximate functions of f32 (`__sinf`, `__expf`, …), called by name.

use super::Sealed;

/// Fast approximations of f32 functions: CUDA C++'s intrinsic functions (`__sinf`, `__fdividef`, …). They take few instructions of
/// the special function unit, and their errors grow outside of a small range (CUDA C++ Programming Guide, "Intrinsic Functions").
/// The host computes them to full f32 accuracy, so results differ by the errors given here. The reciprocal of the square root,
/// [`Float::rsqrt`](super::Float::rsqrt), is always fast.
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
#[doc(alias = "fastmath", alias = "use_fast_math", alias = "intrinsics")]
pub trait FastMath: Copy + Sealed {
    /// Sine (`__sinf`). Absolute error 2^−21.41 within −π…π, larger elsewhere.
    #[doc(alias = "__sinf")]
    fn fast_sin(self) -> Self;
    /// Cosine (`__cosf`). Absolute error 2^−21.19 within −π…π, larger elsewhere.
    #[doc(alias = "__cosf")]
    fn fast_cos(self) -> Self;
    /// Sine and cosine (`__sincosf`), with the errors of [`fast_sin`](Self::fast_sin) and [`fast_cos`](Self::fast_cos).
    #[doc(alias = "__sincosf")]
    fn fast_sin_cos(self) -> (Self, Self);
    /// Tangent (`__tanf`): [`fast_sin`](Self::fast_sin) divided by [`fast_cos`](Self::fast_cos).
    #[doc(alias = "__tanf")]
    fn fast_tan(self) -> Self;
    /// Hyperbolic tangent (`__tanhf`, `tanh.approx`). Relative error 2^−10.98.
    #[doc(alias = "__tanhf", alias = "tanh.approx")]
    fn fast_tanh(self) -> Self;
    /// e to the power of `self` (`__expf`). Error in ULP: 2 + ⌊|1.173 · `self`|⌋.
    #[doc(alias = "__expf")]
    fn fast_exp(self) -> Self;
    /// 2 to the power of `self` (`ex2.approx`). Error in ULP: 2.
    #[doc(alias = "exp2f", alias = "ex2.approx")]
    fn fast_exp2(self) -> Self;
    /// 10 to the power of `self` (`__exp10f`). Error in ULP: 2 + ⌊|2.97 · `self`|⌋.
    #[doc(alias = "__exp10f")]
    fn fast_exp10(self) -> Self;
    /// Natural logarithm (`__logf`). Absolute error 2^−21.41 within ½…2, 3 ULP elsewhere.
    #[doc(alias = "__logf")]
    fn fast_ln(self) -> Self;
    /// Logarithm to base 2 (`__log2f`). Absolute error 2^−22 within ½…2, 2 ULP elsewhere.
    #[doc(alias = "__log2f")]
    fn fast_log2(self) -> Self;
    /// Logarithm to base 10 (`__log10f`). Absolute error 2^−24 within ½…2, 3 ULP elsewhere.
    #[doc(alias = "__log10f")]
    fn fast_log10(self) -> Self;
    /// Power (`__powf`), computed as 2 to the power of `n` · log₂ `self`: the error grows with that product.
    #[doc(alias = "__powf")]
    fn fast_powf(self, n: Self) -> Self;
    /// Quotient (`__fdividef`). 2 ULP for |`rhs`| within 2^−126…2^126; 0 or NaN for larger |`rhs`|.
    #[doc(alias = "__fdividef")]
    fn fast_div(self, rhs: Self) -> Self;
    /// Reciprocal (`rcp.approx`). 1 ULP.
    #[doc(alias = "rcp.approx")]
    fn fast_recip(self) -> Self;
    /// Square root (`sqrt.approx`). 2 ULP.
    #[doc(alias = "sqrt.approx")]
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
                // sm_75 has the instruction, but the PTX version that LLVM emits for sm_75 does not.
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
