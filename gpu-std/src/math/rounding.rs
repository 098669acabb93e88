//! Arithmetic with a rounding mode per operation (`__fadd_rd`, `__fmaf_rz`), as needed for interval arithmetic.

use super::Sealed;

/// A rounding mode (`_rn`, `_rz`, `_ru`, `_rd`): the direction in which results are rounded that are not representable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest float, ties to even (`_rn`): as `+`, `-`, `*`, `/` and `sqrt` do.
    #[doc(alias = "rn")]
    Nearest,
    /// Towards 0 (`_rz`).
    #[doc(alias = "rz")]
    TowardZero,
    /// Towards +∞ (`_ru`).
    #[doc(alias = "ru")]
    Up,
    /// Towards −∞ (`_rd`).
    #[doc(alias = "rd")]
    Down,
}

/// Arithmetic with an explicit rounding mode (`__fadd_rd`, `__fmaf_rz`, …).
///
/// If the mode is a constant, each operation but division and square root is one instruction on the GPU. Results have the same
/// bits on the GPU and the CPU, except for those of NaN, and are never contracted to a multiply-add.
///
/// ```
/// use gpu_std::prelude::{*, math::*};
///
/// /// The sum of two intervals, which contains every sum of their numbers.
/// fn sum((a, b): (f32, f32), (c, d): (f32, f32)) -> (f32, f32) {
///     (a.add_rounded(c, Rounding::Down), b.add_rounded(d, Rounding::Up))
/// }
///
/// assert_eq!(sum((1.0, 1.0), (1e-9, 1e-9)), (1.0, 1.0_f32.next_up()));
/// ```
pub trait RoundedArithmetic: Copy + Sealed {
    /// `self + rhs` (`__fadd_rn`, `__dadd_rn`, …).
    #[doc(
        alias = "__fadd_rn",
        alias = "__fadd_rz",
        alias = "__fadd_ru",
        alias = "__fadd_rd",
        alias = "__dadd_rn",
        alias = "__dadd_rz",
        alias = "__dadd_ru",
        alias = "__dadd_rd"
    )]
    fn add_rounded(self, rhs: Self, rounding: Rounding) -> Self;
    /// `self - rhs` (`__fsub_rn`, `__dsub_rn`, …).
    #[doc(
        alias = "__fsub_rn",
        alias = "__fsub_rz",
        alias = "__fsub_ru",
        alias = "__fsub_rd",
        alias = "__dsub_rn",
        alias = "__dsub_rz",
        alias = "__dsub_ru",
        alias = "__dsub_rd"
    )]
    fn sub_rounded(self, rhs: Self, rounding: Rounding) -> Self;
    /// `self * rhs` (`__fmul_rn`, `__dmul_rn`, …).
    #[doc(
        alias = "__fmul_rn",
        alias = "__fmul_rz",
        alias = "__fmul_ru",
        alias = "__fmul_rd",
        alias = "__dmul_rn",
        alias = "__dmul_rz",
        alias = "__dmul_ru",
        alias = "__dmul_rd"
    )]
    fn mul_rounded(self, rhs: Self, rounding: Rounding) -> Self;
    /// `self / rhs` (`__fdiv_rn`, `__ddiv_rn`, …).
    #[doc(
        alias = "__fdiv_rn",
        alias = "__fdiv_rz",
        alias = "__fdiv_ru",
        alias = "__fdiv_rd",
        alias = "__ddiv_rn",
        alias = "__ddiv_rz",
        alias = "__ddiv_ru",
        alias = "__ddiv_rd"
    )]
    fn div_rounded(self, rhs: Self, rounding: Rounding) -> Self;
    /// `1 / self` (`__frcp_rn`, `__drcp_rn`, …).
    #[doc(
        alias = "__frcp_rn",
        alias = "__frcp_rz",
        alias = "__frcp_ru",
        alias = "__frcp_rd",
        alias = "__drcp_rn",
        alias = "__drcp_rz",
        alias = "__drcp_ru",
        alias = "__drcp_rd"
    )]
    fn recip_rounded(self, rounding: Rounding) -> Self;
    /// The square root (`__fsqrt_rn`, `__dsqrt_rn`, …).
    #[doc(
        alias = "__fsqrt_rn",
        alias = "__fsqrt_rz",
        alias = "__fsqrt_ru",
        alias = "__fsqrt_rd",
        alias = "__dsqrt_rn",
        alias = "__dsqrt_rz",
        alias = "__dsqrt_ru",
        alias = "__dsqrt_rd"
    )]
    fn sqrt_rounded(self, rounding: Rounding) -> Self;
    /// `self * a + b`, rounded once (`__fmaf_rn`, `__fma_rn`, …).
    #[doc(
        alias = "__fmaf_rn",
        alias = "__fmaf_rz",
        alias = "__fmaf_ru",
        alias = "__fmaf_rd",
        alias = "__fma_rn",
        alias = "__fma_rz",
        alias = "__fma_ru",
        alias = "__fma_rd"
    )]
    fn mul_add_rounded(self, a: Self, b: Self, rounding: Rounding) -> Self;
    /// Converts an f64 (`__double2float_rn`, …).
    #[doc(
        alias = "__double2float_rn",
        alias = "__double2float_rz",
        alias = "__double2float_ru",
        alias = "__double2float_rd"
    )]
    fn from_f64_rounded(x: f64, rounding: Rounding) -> Self;
}

#[cfg(target_arch = "nvptx64")]
macro_rules! rounded {
    ($t:ident: $($name:ident($($arg:ident),*) = $rn:ident $rz:ident $ru:ident $rd:ident;)*) => {
        unsafe extern "C" {
            $(
                safe fn $rn(x: $t $(, $arg: $t)*) -> $t;
                safe fn $rz(x: $t $(, $arg: $t)*) -> $t;
                safe fn $ru(x: $t $(, $arg: $t)*) -> $t;
                safe fn $rd(x: $t $(, $arg: $t)*) -> $t;
            )*
        }

        impl RoundedArithmetic for $t {
            $(
                #[inline(always)]
                fn $name(self $(, $arg: Self)*, rounding: Rounding) -> Self {
                    match rounding {
                        Rounding::Nearest => $rn(self $(, $arg)*),
                        Rounding::TowardZero => $rz(self $(, $arg)*),
                        Rounding::Up => $ru(self $(, $arg)*),
                        Rounding::Down => $rd(self $(, $arg)*),
                    }
                }
            )*

            #[inline(always)]
            fn from_f64_rounded(x: f64, rounding: Rounding) -> Self {
                from_f64(x, rounding)
            }
        }
    };
}

#[cfg(target_arch = "nvptx64")]
const _: () = {
    unsafe extern "C" {
        safe fn __nv_double2float_rn(x: f64) -> f32;
        safe fn __nv_double2float_rz(x: f64) -> f32;
        safe fn __nv_double2float_ru(x: f64) -> f32;
        safe fn __nv_double2float_rd(x: f64) -> f32;
    }

    #[inline(always)]
    fn from_f64(x: f64, rounding: Rounding) -> f32 {
        match rounding {
            Rounding::Nearest => __nv_double2float_rn(x),
            Rounding::TowardZero => __nv_double2float_rz(x),
            Rounding::Up => __nv_double2float_ru(x),
            Rounding::Down => __nv_double2float_rd(x),
        }
    }

    rounded! { f32:
        add_rounded(rhs) = __nv_fadd_rn __nv_fadd_rz __nv_fadd_ru __nv_fadd_rd;
        sub_rounded(rhs) = __nv_fsub_rn __nv_fsub_rz __nv_fsub_ru __nv_fsub_rd;
        mul_rounded(rhs) = __nv_fmul_rn __nv_fmul_rz __nv_fmul_ru __nv_fmul_rd;
        div_rounded(rhs) = __nv_fdiv_rn __nv_fdiv_rz __nv_fdiv_ru __nv_fdiv_rd;
        recip_rounded() = __nv_frcp_rn __nv_frcp_rz __nv_frcp_ru __nv_frcp_rd;
        sqrt_rounded() = __nv_fsqrt_rn __nv_fsqrt_rz __nv_fsqrt_ru __nv_fsqrt_rd;
        mul_add_rounded(a, b) = __nv_fmaf_rn __nv_fmaf_rz __nv_fmaf_ru __nv_fmaf_rd;
    }
};

#[cfg(target_arch = "nvptx64")]
const _: () = {
    #[inline(always)]
    fn from_f64(x: f64, _: Rounding) -> f64 {
        x
    }

    rounded! { f64:
        add_rounded(rhs) = __nv_dadd_rn __nv_dadd_rz __nv_dadd_ru __nv_dadd_rd;
        sub_rounded(rhs) = __nv_dsub_rn __nv_dsub_rz __nv_dsub_ru __nv_dsub_rd;
        mul_rounded(rhs) = __nv_dmul_rn __nv_dmul_rz __nv_dmul_ru __nv_dmul_rd;
        div_rounded(rhs) = __nv_ddiv_rn __nv_ddiv_rz __nv_ddiv_ru __nv_ddiv_rd;
        recip_rounded() = __nv_drcp_rn __nv_drcp_rz __nv_drcp_ru __nv_drcp_rd;
        sqrt_rounded() = __nv_dsqrt_rn __nv_dsqrt_rz __nv_dsqrt_ru __nv_dsqrt_rd;
        mul_add_rounded(a, b) = __nv_fma_rn __nv_fma_rz __nv_fma_ru __nv_fma_rd;
    }
};

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! rounded {
    ($($t:ident $host:ident)*) => {$(
        impl RoundedArithmetic for $t {
            fn add_rounded(self, rhs: Self, rounding: Rounding) -> Self {
                super::host::rounding::$host::add(self, rhs, rounding)
            }
            fn sub_rounded(self, rhs: Self, rounding: Rounding) -> Self {
                super::host::rounding::$host::add(self, -rhs, rounding)
            }
            fn mul_rounded(self, rhs: Self, rounding: Rounding) -> Self {
                super::host::rounding::$host::mul(self, rhs, rounding)
            }
            fn div_rounded(self, rhs: Self, rounding: Rounding) -> Self {
                super::host::rounding::$host::div(self, rhs, rounding)
            }
            fn recip_rounded(self, rounding: Rounding) -> Self {
                super::host::rounding::$host::div(1.0, self, rounding)
            }
            fn sqrt_rounded(self, rounding: Rounding) -> Self {
                super::host::rounding::$host::sqrt(self, rounding)
            }
            fn mul_add_rounded(self, a: Self, b: Self, rounding: Rounding) -> Self {
                super::host::rounding::$host::mul_add(self, a, b, rounding)
            }
            fn from_f64_rounded(x: f64, rounding: Rounding) -> Self {
                super::host::rounding::$host::from_f64(x, rounding)
            }
        }
    )*};
}

#[cfg(not(target_arch = "nvptx64"))]
rounded!(f32 narrow f64 wide);
