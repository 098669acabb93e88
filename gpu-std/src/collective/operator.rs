//! Operators of reductions and scans.

use crate::warp::{LaneBits, LaneNumber, Reduction};

/// An associative operation on two values: `combine(combine(a, b), c)` equals `combine(a, combine(b, c))`.
///
/// It need not be commutative: values are combined in the order of the threads. Closures and functions `Fn(T, T) -> T` are
/// operators if the types of both parameters are written out; the named ones, such as [`Sum`], are faster where the GPU has
/// an instruction for them.
///
/// If an operator is not exactly associative, such as the addition of floating-point numbers, results depend on how the
/// values are grouped. The groups depend only on the dimensions of the block: results have the same bits on each launch and
/// on each device, the CPU included.
///
/// ```
/// use gpu_std::prelude::{*, collective::*};
///
/// /// Composes the functions `x ↦ a·x + b` of a block's threads: not commutative.
/// #[kernel(block = 128)]
/// pub fn compose(parts: &[[f32; 2]], mut scratch: BlockScratch<[f32; 2]>, out: PerThread<[f32; 2]>) {
///     let part = parts.get(global_rank()).copied().unwrap_or([1.0, 0.0]);
///     let so_far = scratch.inclusive_scan(part, |[a, b]: [f32; 2], [c, d]: [f32; 2]| [a * c, c * b + d]);
///     for (_, out) in out {
///         *out = so_far;
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not combine two values of type `{T}`",
    note = "give a closure with types, `|a: f32, b: f32| …`, or one of `Sum`, `Product`, `Min`, `Max`, `BitAnd`, `BitOr` and `BitXor`"
)]
pub trait Operator<T> {
    /// Combines two values; `first` is that of the lower thread.
    fn combine(&self, first: T, second: T) -> T;

    /// Combines the values of these lanes of the warp in one instruction, if the GPU can; every lane gets the result. Whether
    /// it can depends on the types and the architecture only.
    #[doc(hidden)]
    #[inline(always)]
    fn combine_lanes(&self, lanes: u32, value: T) -> Option<T> {
        let _ = (lanes, value);
        None
    }

    /// Returns `first` such that `combine(first, second)` gave `both`, if the operator can be undone.
    #[doc(hidden)]
    #[inline(always)]
    fn undo(&self, both: T, second: T) -> Option<T> {
        let _ = (both, second);
        None
    }
}

impl<T, F: Fn(T, T) -> T> Operator<T> for F {
    #[inline(always)]
    fn combine(&self, first: T, second: T) -> T {
        self(first, second)
    }
}

/// The sum (`cg::plus`). Integers wrap around.
#[doc(alias = "plus", alias = "cg::plus", alias = "cub::Sum")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum;

/// The product. Integers wrap around.
#[doc(alias = "multiplies")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Product;

/// The minimum (`cg::less`). NaNs are ignored, as by [`f32::min`]: the result is NaN only if all values are.
#[doc(alias = "cg::less", alias = "cub::Min")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Min;

/// The maximum (`cg::greater`). NaNs are ignored, as by [`f32::max`]: the result is NaN only if all values are.
#[doc(alias = "cg::greater", alias = "cub::Max")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Max;

/// The bitwise AND (`cg::bit_and`).
#[doc(alias = "bit_and", alias = "cg::bit_and")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BitAnd;

/// The bitwise OR (`cg::bit_or`).
#[doc(alias = "bit_or", alias = "cg::bit_or")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BitOr;

/// The bitwise XOR (`cg::bit_xor`).
#[doc(alias = "bit_xor", alias = "cg::bit_xor")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BitXor;

macro_rules! operators {
    ($($operator:ident: $bound:ident, $combine:ident, redux $reduction:ident $(, undo $undo:ident)?;)*) => {$(
        impl<T: $bound> Operator<T> for $operator {
            #[inline(always)]
            fn combine(&self, first: T, second: T) -> T {
                first.$combine(second)
            }

            #[inline(always)]
            fn combine_lanes(&self, lanes: u32, value: T) -> Option<T> {
                value.redux(Reduction::$reduction, lanes)
            }

            $(
                #[inline(always)]
                fn undo(&self, both: T, second: T) -> Option<T> {
                    both.$undo(second)
                }
            )?
        }
    )*};
}

operators! {
    Sum: LaneNumber, sum_of, redux Sum, undo sum_without;
    Min: LaneNumber, least_of, redux Min;
    Max: LaneNumber, greatest_of, redux Max;
    BitAnd: LaneBits, and_of, redux And;
    BitOr: LaneBits, or_of, redux Or;
    BitXor: LaneBits, xor_of, redux Xor;
}

impl<T: LaneNumber> Operator<T> for Product {
    #[inline(always)]
    fn combine(&self, first: T, second: T) -> T {
        first.product_of(second)
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn extremes_pass_over_nan_and_order_zeros() {
        assert_eq!(Min.combine(f32::NAN, 2.0), 2.0);
        assert_eq!(Max.combine(2.0_f64, f64::NAN), 2.0);
        assert!(Min.combine(f64::NAN, f64::NAN).is_nan());
        for (a, b) in [(0.0_f32, -0.0), (-0.0, 0.0)] {
            assert!(Min.combine(a, b).is_sign_negative());
            assert!(Max.combine(a, b).is_sign_positive());
        }
    }

    #[test]
    fn what_can_be_undone_is() {
        assert_eq!(Sum.undo(Sum.combine(u8::MAX, 3), 3), Some(u8::MAX));
        assert_eq!(Operator::<f32>::undo(&Sum, 3.0, 1.0), None);
        assert_eq!(Min.undo(3_u32, 1), None);
    }

    #[test]
    fn closures_are_operators() {
        let first = |a: u32, _: u32| a;
        assert_eq!(first.combine(1, 2), 1);
    }
}
