//! 16-bit floats: [`f16`](struct@f16) (`__half`, IEEE 754 binary16) and [`bf16`] (`__nv_bfloat16`, the upper half of an f32).
//!
//! In kernels, operators and conversions are GPU instructions. f16 has arithmetic on every architecture; bf16 has multiply-add from
//! sm_80 on and all arithmetic from sm_90 on, and is computed in f32 on older ones. Every operation is rounded once, and gives the
//! same bits on the GPU and the CPU, except for those of NaN; a product and a sum are never contracted. The methods of [`Float`] are
//! computed in f32 and rounded to 16 bits, except for [`mul_add`](Float::mul_add), which is one instruction. Pairs of numbers in
//! 32 bits, [`f16x2`] (`__half2`) and [`bf16x2`] (`__nv_bfloat162`), have twice the throughput.
//!
//! ```
//! use gpu_std::{half::{bf16, f16}, prelude::*};
//!
//! /// y = a·x + y, rounded once.
//! #[kernel]
//! pub fn axpy(a: f16, x: &[f16], y: PerThread<f16>) {
//!     for (i, y) in y {
//!         *y = a.mul_add(x[i], *y);
//!     }
//! }
//!
//! /// Sums in f32.
//! #[kernel]
//! pub fn widened(x: &[bf16], sum: PerThread<f32>) {
//!     for (i, sum) in sum {
//!         *sum += x[i].to_f32();
//!     }
//! }
//! ```
//!
//! These are not the types of the crate `half`, because those compute in software on GPUs. With the feature `half`, the crate's types
//! are [`DeviceCopy`], convert to these and back, and buffers of one can be passed as buffers of the other: `buffer.cast::<f16>()`.

use core::{
    cmp::Ordering,
    fmt,
    ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, Sub, SubAssign},
};

use bytemuck::{Pod, Zeroable};

use crate::{DeviceCopy, Float, math::Sealed, signature::Text, vector::Vector};

mod packed;
mod software;

pub use packed::{bf16x2, f16x2};

/// Calls a function of the prelude; on the host, evaluates the expression given instead.
macro_rules! native {
    ($function:ident($($argument:ident: $of:ty = $value:expr),*) -> $result:ty, else $host:expr) => {{
        #[cfg(target_arch = "nvptx64")]
        {
            unsafe extern "C" {
                safe fn $function($($argument: $of),*) -> $result;
            }
            $function($($value),*)
        }
        #[cfg(not(target_arch = "nvptx64"))]
        $host
    }};
}
use native;

macro_rules! through_f32 {
    ($t:ident: $($name:ident($($argument:ident: $of:ty = $value:expr),*))*) => {
        $(
            #[inline(always)]
            fn $name(self $(, $argument: $of)*) -> Self {
                $t::from_f32(Float::$name(self.to_f32() $(, $value)*))
            }
        )*
    };
}

/// The type, its conversions and its operators.
macro_rules! half {
    (
        $(#[$doc:meta])* $t:ident, $from_f32:ident $to_f32:ident, $add:ident $sub:ident $mul:ident $div:ident $mul_add:ident since $arch:literal,
        infinity $infinity:literal, nan $nan:literal, max $max:literal, one $one:literal, epsilon $epsilon:literal, least $least:literal
    ) => {
        $(#[$doc])*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $t(u16);

        // SAFETY: 16 bits, of which any are a value.
        unsafe impl Zeroable for $t {}
        // SAFETY: as above.
        unsafe impl Pod for $t {}
        // SAFETY: as above.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceCopy for $t {
            const TYPE: Text = Text::Word(concat!("gpu_std::half::", stringify!($t)));
            const ANY_BYTES: bool = true;
        }

        impl Sealed for $t {}

        impl $t {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// One.
            pub const ONE: Self = Self($one);
            /// Infinity.
            pub const INFINITY: Self = Self($infinity);
            /// Negative infinity.
            pub const NEG_INFINITY: Self = Self($infinity | SIGN);
            /// A NaN.
            pub const NAN: Self = Self($nan);
            /// The largest finite number.
            pub const MAX: Self = Self($max);
            /// The smallest finite number, −[`MAX`](Self::MAX).
            pub const MIN: Self = Self($max | SIGN);
            /// The smallest positive normal number.
            pub const MIN_POSITIVE: Self = Self($least);
            /// Machine epsilon: the difference between 1 and the next larger number.
            pub const EPSILON: Self = Self($epsilon);

            /// Creates a number from its bits.
            #[doc(alias = "__ushort_as_half", alias = "__ushort_as_bfloat16")]
            #[inline(always)]
            pub const fn from_bits(bits: u16) -> Self {
                Self(bits)
            }

            /// Returns the bits of the number.
            #[doc(alias = "__half_as_ushort", alias = "__bfloat16_as_ushort")]
            #[inline(always)]
            pub const fn to_bits(self) -> u16 {
                self.0
            }

            /// Converts an f32, rounded to nearest, ties to even.
            #[doc(alias = "__float2half", alias = "__float2bfloat16")]
            #[inline(always)]
            pub fn from_f32(x: f32) -> Self {
                Self(native!($from_f32(x: f32 = x) -> u16, else software::$from_f32(x)))
            }

            /// Converts an f64, rounded once to nearest, ties to even.
            #[doc(alias = "__double2half", alias = "__double2bfloat16")]
            #[inline(always)]
            pub fn from_f64(x: f64) -> Self {
                Self::from_f32(software::narrowed_to_odd(x))
            }

            /// Converts to f32, exactly.
            #[doc(alias = "__half2float", alias = "__bfloat162float")]
            #[inline(always)]
            pub fn to_f32(self) -> f32 {
                native!($to_f32(x: u16 = self.0) -> f32, else software::$to_f32(self.0))
            }

            /// Converts to f64, exactly.
            #[inline(always)]
            pub fn to_f64(self) -> f64 {
                self.to_f32().into()
            }

            /// The absolute value.
            #[doc(alias = "__habs")]
            #[inline(always)]
            pub const fn abs(self) -> Self {
                Self(self.0 & !SIGN)
            }

            /// Whether it is NaN.
            #[inline(always)]
            pub const fn is_nan(self) -> bool {
                self.0 & !SIGN > $infinity
            }

            /// Whether it is ∞ or −∞.
            #[inline(always)]
            pub const fn is_infinite(self) -> bool {
                self.0 & !SIGN == $infinity
            }

            /// Whether it is neither infinite nor NaN.
            #[inline(always)]
            pub const fn is_finite(self) -> bool {
                self.0 & !SIGN < $infinity
            }

            /// Whether the sign bit is set, including that of zeros and NaN.
            #[inline(always)]
            pub const fn is_sign_negative(self) -> bool {
                self.0 & SIGN != 0
            }

            /// Whether the sign bit is clear, including that of zeros and NaN.
            #[inline(always)]
            pub const fn is_sign_positive(self) -> bool {
                self.0 & SIGN == 0
            }

            /// The smaller of two numbers (`__hmin`); the other one if one is NaN.
            #[doc(alias = "__hmin")]
            #[inline(always)]
            pub fn min(self, other: Self) -> Self {
                Self::from_f32(self.to_f32().min(other.to_f32()))
            }

            /// The larger of two numbers (`__hmax`); the other one if one is NaN.
            #[doc(alias = "__hmax")]
            #[inline(always)]
            pub fn max(self, other: Self) -> Self {
                Self::from_f32(self.to_f32().max(other.to_f32()))
            }
        }

        impl PartialEq for $t {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $t {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }

            #[inline(always)]
            fn lt(&self, other: &Self) -> bool {
                self.to_f32() < other.to_f32()
            }

            #[inline(always)]
            fn le(&self, other: &Self) -> bool {
                self.to_f32() <= other.to_f32()
            }

            #[inline(always)]
            fn gt(&self, other: &Self) -> bool {
                self.to_f32() > other.to_f32()
            }

            #[inline(always)]
            fn ge(&self, other: &Self) -> bool {
                self.to_f32() >= other.to_f32()
            }
        }

        impl fmt::Debug for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }

        impl From<$t> for f32 {
            #[inline(always)]
            fn from(x: $t) -> f32 {
                x.to_f32()
            }
        }

        impl From<$t> for f64 {
            #[inline(always)]
            fn from(x: $t) -> f64 {
                x.to_f64()
            }
        }

        impl Neg for $t {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self(self.0 ^ SIGN)
            }
        }

        half!(@ $t, Add add $add, AddAssign add_assign);
        half!(@ $t, Sub sub $sub, SubAssign sub_assign);
        half!(@ $t, Mul mul $mul, MulAssign mul_assign);
        half!(@ $t, Div div $div, DivAssign div_assign);

        impl Rem for $t {
            type Output = Self;

            #[inline(always)]
            fn rem(self, rhs: Self) -> Self {
                Self::from_f32(self.to_f32() % rhs.to_f32())
            }
        }

        #[cfg(feature = "half")]
        const _: () = {
            // SAFETY: 16 bits, of which any are a value.
            #[diagnostic::do_not_recommend]
            unsafe impl DeviceCopy for ::half::$t {
                const TYPE: Text = Text::Word(concat!("half::", stringify!($t)));
                const ANY_BYTES: bool = true;
            }

            impl From<::half::$t> for $t {
                #[inline(always)]
                fn from(x: ::half::$t) -> Self {
                    Self(x.to_bits())
                }
            }

            impl From<$t> for ::half::$t {
                #[inline(always)]
                fn from(x: $t) -> Self {
                    Self::from_bits(x.0)
                }
            }
        };

        impl Float for $t {
            through_f32! { $t:
                floor() ceil() round() round_ties_even() trunc() fract()
                div_euclid(rhs: Self = rhs.to_f32()) rem_euclid(rhs: Self = rhs.to_f32())
                powi(n: i32 = n) powf(n: Self = n.to_f32()) sqrt() rsqrt() cbrt() hypot(other: Self = other.to_f32())
                exp() exp2() exp_m1() ln() log(base: Self = base.to_f32()) log2() log10() ln_1p()
                sin() cos() tan() asin() acos() atan() atan2(other: Self = other.to_f32())
                sinh() cosh() tanh() asinh() acosh() atanh()
            }

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                $t::from_f64(x)
            }

            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                let exact = || Self::from_f32(software::mul_add(self.into(), a.into(), b.into()));
                if crate::arch() < $arch {
                    return exact();
                }
                Self(native!($mul_add(x: u16 = self.0, a: u16 = a.0, b: u16 = b.0) -> u16, else exact().0))
            }

            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                let (sin, cos) = Float::sin_cos(self.to_f32());
                (Self::from_f32(sin), Self::from_f32(cos))
            }
        }
    };
    (@ $t:ident, $operator:ident $method:ident $device:ident, $assign:ident $assign_method:ident) => {
        impl $operator for $t {
            type Output = Self;

            // Computed in f32, which has so many more digits that rounding twice gives the same result (Figueroa 1995).
            #[inline(always)]
            fn $method(self, rhs: Self) -> Self {
                let (x, y) = (self, rhs);
                Self(native!(
                    $device(x: u16 = x.0, y: u16 = y.0) -> u16,
                    else Self::from_f32(x.to_f32().$method(y.to_f32())).0
                ))
            }
        }

        impl $assign for $t {
            #[inline(always)]
            fn $assign_method(&mut self, rhs: Self) {
                *self = self.$method(rhs);
            }
        }
    };
}

const SIGN: u16 = 0x8000;

half! {
    /// A 16-bit float (`__half`, IEEE 754 binary16): 11 significant bits, exponents from −14 to 15, numbers up to 65504.
    #[doc(alias = "__half", alias = "half", alias = "float16")]
    f16, __gpukernel_f32_to_f16 __gpukernel_f16_to_f32,
    __gpukernel_add_f16 __gpukernel_sub_f16 __gpukernel_mul_f16 __gpukernel_div_f16 __gpukernel_mul_add_f16 since 75,
    infinity 0x7C00, nan 0x7E00, max 0x7BFF, one 0x3C00, epsilon 0x1400, least 0x0400
}

half! {
    /// A 16-bit float (`__nv_bfloat16`): 8 significant bits and the exponents of f32, the upper half of an f32.
    #[doc(alias = "__nv_bfloat16", alias = "bfloat16")]
    bf16, __gpukernel_f32_to_bf16 __gpukernel_bf16_to_f32,
    __gpukernel_add_bf16 __gpukernel_sub_bf16 __gpukernel_mul_bf16 __gpukernel_div_bf16 __gpukernel_mul_add_bf16 since 80,
    infinity 0x7F80, nan 0x7FC0, max 0x7F7F, one 0x3F80, epsilon 0x3C00, least 0x0080
}
