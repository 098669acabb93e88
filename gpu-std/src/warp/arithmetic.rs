//! Arithmetic reductions over groups of lanes, by the hardware's instruction (`redux.sync`, sm_80) if there is one.

use super::{LaneGroup, WarpElement, reduce};
use crate::half::{bf16, f16};

/// A number type of the arithmetic reductions, [`reduce_sum`](LaneGroup::reduce_sum) and others.
#[diagnostic::on_unimplemented(
    message = "lanes cannot add or compare values of type `{Self}` by name",
    note = "that is for integers of up to 64 bits, f32, f64, f16 and bf16: use `reduce(value, |a, b| …)`"
)]
pub trait LaneNumber: WarpElement + sealed::Number {}

/// An integer type of the bitwise reductions, [`reduce_and`](LaneGroup::reduce_and) and others.
#[diagnostic::on_unimplemented(
    message = "lanes cannot combine the bits of values of type `{Self}`",
    note = "that is for integers of up to 64 bits"
)]
pub trait LaneBits: LaneNumber + sealed::Bits {}

/// The operation of a reduction.
#[derive(Clone, Copy, Debug)]
pub enum Reduction {
    Sum,
    Min,
    Max,
    And,
    Or,
    Xor,
}

pub(crate) mod sealed {
    use super::Reduction;

    #[allow(unreachable_pub)]
    pub trait Number: Sized {
        /// What a sum and the others begin with.
        const IDENTITY_OF_SUM: Self;
        const IDENTITY_OF_PRODUCT: Self;
        const IDENTITY_OF_MAX: Self;
        const IDENTITY_OF_MIN: Self;
        fn sum_of(self, other: Self) -> Self;
        fn least_of(self, other: Self) -> Self;
        fn greatest_of(self, other: Self) -> Self;
        fn product_of(self, other: Self) -> Self;
        /// Returns the operand that gave this value by `sum_of(other)`, for numbers whose sums are exact.
        #[inline(always)]
        fn sum_without(self, _other: Self) -> Option<Self> {
            None
        }
        /// Reduces in one instruction, if the architecture has it.
        #[inline(always)]
        fn redux(self, _: Reduction, _lanes: u32) -> Option<Self> {
            None
        }
    }

    #[allow(unreachable_pub)]
    pub trait Bits: Number {
        fn and_of(self, other: Self) -> Self;
        fn or_of(self, other: Self) -> Self;
        fn xor_of(self, other: Self) -> Self;
    }
}

#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub(super) fn reduce_number<G: LaneGroup, T: LaneNumber>(
    group: &G,
    value: T,
    reduction: Reduction,
    op: impl FnMut(T, T) -> T,
) -> T {
    match value.redux(reduction, group.lanes()) {
        Some(result) => result,
        None => reduce::reduce(group, value, op),
    }
}

#[cfg(target_arch = "nvptx64")]
mod redux {
    use super::Reduction;

    unsafe extern "C" {
        safe fn __gpukernel_redux_add_u32(lanes: u32, value: u32) -> u32;
        safe fn __gpukernel_redux_min_u32(lanes: u32, value: u32) -> u32;
        safe fn __gpukernel_redux_max_u32(lanes: u32, value: u32) -> u32;
        safe fn __gpukernel_redux_min_i32(lanes: u32, value: i32) -> i32;
        safe fn __gpukernel_redux_max_i32(lanes: u32, value: i32) -> i32;
        safe fn __gpukernel_redux_and_u32(lanes: u32, value: u32) -> u32;
        safe fn __gpukernel_redux_or_u32(lanes: u32, value: u32) -> u32;
        safe fn __gpukernel_redux_xor_u32(lanes: u32, value: u32) -> u32;
    }

    #[inline(always)]
    pub(super) fn exists() -> bool {
        crate::arch() >= 80
    }

    #[inline(always)]
    pub(super) fn unsigned(reduction: Reduction, lanes: u32, value: u32) -> u32 {
        match reduction {
            Reduction::Sum => __gpukernel_redux_add_u32(lanes, value),
            Reduction::Min => __gpukernel_redux_min_u32(lanes, value),
            Reduction::Max => __gpukernel_redux_max_u32(lanes, value),
            Reduction::And => __gpukernel_redux_and_u32(lanes, value),
            Reduction::Or => __gpukernel_redux_or_u32(lanes, value),
            Reduction::Xor => __gpukernel_redux_xor_u32(lanes, value),
        }
    }

    #[inline(always)]
    pub(super) fn signed(reduction: Reduction, lanes: u32, value: i32) -> i32 {
        match reduction {
            Reduction::Min => __gpukernel_redux_min_i32(lanes, value),
            Reduction::Max => __gpukernel_redux_max_i32(lanes, value),
            _ => unsigned(reduction, lanes, value as u32) as i32,
        }
    }

    /// Reduces the halves of a number of 64 bits: bitwise operations each on its own, and extremes the upper ones first, then the lower ones of lanes that have
    /// the extreme. Sums carry.
    #[inline(always)]
    pub(super) fn halves(reduction: Reduction, lanes: u32, value: u64, is_signed: bool) -> Option<u64> {
        if !exists() {
            return None;
        }
        let (low, high) = (value as u32, (value >> 32) as u32);
        let (low, extreme) = match reduction {
            Reduction::Sum => return None,
            Reduction::And | Reduction::Or | Reduction::Xor => (low, unsigned(reduction, lanes, high)),
            Reduction::Min | Reduction::Max => {
                let extreme = if is_signed {
                    signed(reduction, lanes, high as i32) as u32
                } else {
                    unsigned(reduction, lanes, high)
                };
                // What comes last.
                let other = if matches!(reduction, Reduction::Min) { u32::MAX } else { 0 };
                (if high == extreme { low } else { other }, extreme)
            }
        };
        Some(u64::from(extreme) << 32 | u64::from(unsigned(reduction, lanes, low)))
    }
}

macro_rules! integers {
    ($($t:ty: |$lanes:ident, $reduction:ident, $value:ident| $redux:expr;)*) => {$(
        impl LaneNumber for $t {}
        impl LaneBits for $t {}

        impl sealed::Number for $t {
            const IDENTITY_OF_SUM: Self = 0;
            const IDENTITY_OF_PRODUCT: Self = 1;
            const IDENTITY_OF_MAX: Self = <$t>::MIN;
            const IDENTITY_OF_MIN: Self = <$t>::MAX;

            #[inline(always)]
            fn sum_of(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn least_of(self, other: Self) -> Self {
                Ord::min(self, other)
            }

            #[inline(always)]
            fn greatest_of(self, other: Self) -> Self {
                Ord::max(self, other)
            }

            #[inline(always)]
            fn product_of(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn sum_without(self, other: Self) -> Option<Self> {
                Some(self.wrapping_sub(other))
            }

            #[cfg(target_arch = "nvptx64")]
            #[inline(always)]
            fn redux(self, $reduction: Reduction, $lanes: u32) -> Option<Self> {
                let $value = self;
                $redux
            }
        }

        impl sealed::Bits for $t {
            #[inline(always)]
            fn and_of(self, other: Self) -> Self {
                self & other
            }

            #[inline(always)]
            fn or_of(self, other: Self) -> Self {
                self | other
            }

            #[inline(always)]
            fn xor_of(self, other: Self) -> Self {
                self ^ other
            }
        }
    )*};
}

// Sums of narrow integers wrap when they are cut to their width.
integers! {
    u8: |lanes, reduction, x| redux::exists().then(|| redux::unsigned(reduction, lanes, u32::from(x)) as u8);
    u16: |lanes, reduction, x| redux::exists().then(|| redux::unsigned(reduction, lanes, u32::from(x)) as u16);
    u32: |lanes, reduction, x| redux::exists().then(|| redux::unsigned(reduction, lanes, x));
    i8: |lanes, reduction, x| redux::exists().then(|| redux::signed(reduction, lanes, i32::from(x)) as i8);
    i16: |lanes, reduction, x| redux::exists().then(|| redux::signed(reduction, lanes, i32::from(x)) as i16);
    i32: |lanes, reduction, x| redux::exists().then(|| redux::signed(reduction, lanes, x));
    u64: |lanes, reduction, x| redux::halves(reduction, lanes, x, false);
    i64: |lanes, reduction, x| redux::halves(reduction, lanes, x as u64, true).map(|x| x as i64);
    usize: |lanes, reduction, x| redux::halves(reduction, lanes, x as u64, false).map(|x| x as usize);
    isize: |lanes, reduction, x| redux::halves(reduction, lanes, x as u64, true).map(|x| x as isize);
}

macro_rules! floats {
    ($($t:ty: $zero:expr, $one:expr;)*) => {$(
        impl LaneNumber for $t {}

        impl sealed::Number for $t {
            const IDENTITY_OF_SUM: Self = $zero;
            const IDENTITY_OF_PRODUCT: Self = $one;
            const IDENTITY_OF_MAX: Self = <$t>::NEG_INFINITY;
            const IDENTITY_OF_MIN: Self = <$t>::INFINITY;

            #[inline(always)]
            fn sum_of(self, other: Self) -> Self {
                self + other
            }

            // As the instructions `min` and `max` have it (PTX ISA): -0 is less than 0, which Rust leaves open.
            #[inline(always)]
            fn least_of(self, other: Self) -> Self {
                #[cfg(not(target_arch = "nvptx64"))]
                if self == other {
                    return if self.is_sign_negative() { self } else { other };
                }
                <$t>::min(self, other)
            }

            #[inline(always)]
            fn greatest_of(self, other: Self) -> Self {
                #[cfg(not(target_arch = "nvptx64"))]
                if self == other {
                    return if self.is_sign_positive() { self } else { other };
                }
                <$t>::max(self, other)
            }

            #[inline(always)]
            fn product_of(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}

floats! {
    f32: 0.0, 1.0;
    f64: 0.0, 1.0;
    f16: f16::ZERO, f16::ONE;
    bf16: bf16::ZERO, bf16::ONE;
}
