//! Arithmetic with a rounding mode per operation, as interval arithmetic needs it.

use super::Sealed;

/// In which direction a result that is no float is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest float, ties to the even one: what `+`, `-`, `*`, `/` and `sqrt` do.
    Nearest,
    /// To the nearest float towards 0.
    TowardZero,
    /// To the next float above.
    Up,
    /// To the next float below.
    Down,
}

/// Arithmetic with a rounding mode: one instruction on the GPU for all but division and square root, if the mode is a constant.
/// The same bits on the GPU and the CPU, NaN's apart. Never contracted to a multiply-add.
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
    /// `self + rhs`.
    fn add_rounded(self, rhs: Self, rounding: Rounding) -> Self;
    /// `self - rhs`.
    fn sub_rounded(self, rhs: Self, rounding: Rounding) -> Self;
    /// `self * rhs`.
    fn mul_rounded(self, rhs: Self, rounding: Rounding) -> Self;
    /// `self / rhs`.
    fn div_rounded(self, rhs: Self, rounding: Rounding) -> Self;
    /// `1 / self`.
    fn recip_rounded(self, rounding: Rounding) -> Self;
    /// The square root.
    fn sqrt_rounded(self, rounding: Rounding) -> Self;
    /// `self * a + b`, rounded once.
    fn mul_add_rounded(self, a: Self, b: Self, rounding: Rounding) -> Self;
    /// An f64 as this type.
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
