//! Elements of device-wide algorithms, and operators with an identity.

use bytemuck::{Pod, Zeroable};
use gpu_std::{
    DeviceCopy,
    prelude::collective::{BitAnd, BitOr, BitXor, Max, Min, Operator, Product, Sum},
    signature::Text,
};

/// An element that kernels compute with: numbers, arrays of them, and structs that derive [`DeviceCopy`] and [`bytemuck::Pod`].
/// ```
/// use gpukernel_algorithms_kernels::Element;
///
/// fn is_element<T: Element>() {}
/// is_element::<[f32; 3]>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element of device-wide algorithms",
    note = "numbers, arrays of them, and structs without padding that derive `DeviceCopy`, `bytemuck::Zeroable` and `bytemuck::Pod` are"
)]
pub trait Element: DeviceCopy + Pod {}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + Pod> Element for T {}

/// An associative operator of values of type `T` with an identity: a value that changes none that it is combined with, on either side.
///
/// ```
/// use gpu_std::prelude::{*, collective::Operator};
/// use gpukernel_algorithms_kernels::Identity;
///
/// /// Multiplies modulo 1 000 007.
/// #[derive(Clone, Copy, Debug, Default)]
/// pub struct ProductModulo;
///
/// impl Operator<u64> for ProductModulo {
///     fn combine(&self, first: u64, second: u64) -> u64 {
///         first * second % 1_000_007
///     }
/// }
///
/// impl Identity<u64> for ProductModulo {
///     const IDENTITY: u64 = 1;
/// }
/// ```
#[doc(alias = "monoid", alias = "init")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no identity for values of type `{T}`",
    note = "implement `Operator<{T}>` and `Identity<{T}>` for a type of the kernel's crate, which derives `Clone`, `Copy` and `Default`"
)]
pub trait Identity<T>: Operator<T> + Copy + Default + 'static {
    /// The identity.
    const IDENTITY: T;
}

macro_rules! identities {
    ($($Operator:ident: $($t:ident)*, $identity:expr;)*) => {
        $($(impl Identity<$t> for $Operator {
            const IDENTITY: $t = {
                #[allow(dead_code)]
                type T = $t;
                $identity
            };
        })*)*
    };
}

identities! {
    Sum: i8 i16 i32 i64 isize u8 u16 u32 u64 usize, 0;
    // A sum of no numbers but -0 is -0, as that of `Iterator::sum`.
    Sum: f32 f64, -0.0;
    Product: i8 i16 i32 i64 isize u8 u16 u32 u64 usize, 1;
    Product: f32 f64, 1.0;
    Min: i8 i16 i32 i64 isize u8 u16 u32 u64 usize, T::MAX;
    Max: i8 i16 i32 i64 isize u8 u16 u32 u64 usize, T::MIN;
    // Which minimum and maximum pass over.
    Min: f32 f64, T::NAN;
    Max: f32 f64, T::NAN;
    BitAnd: i8 i16 i32 i64 isize u8 u16 u32 u64 usize, !0;
    BitOr: i8 i16 i32 i64 isize u8 u16 u32 u64 usize, 0;
    BitXor: i8 i16 i32 i64 isize u8 u16 u32 u64 usize, 0;
}

/// A value for each row of a warp, which lanes exchange at once. bytemuck takes arrays of some lengths only.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Rows<T, const R: usize>(pub(crate) [T; R]);

// SAFETY: zeros are a value of each.
unsafe impl<T: Element, const R: usize> Zeroable for Rows<T, R> {}
// SAFETY: plain data, one after another.
unsafe impl<T: Element, const R: usize> Pod for Rows<T, R> {}
// SAFETY: laid out as an array is, on each target.
#[diagnostic::do_not_recommend]
unsafe impl<T: Element, const R: usize> DeviceCopy for Rows<T, R> {
    const TYPE: Text = Text::Of("gpukernel_algorithms_kernels::Rows", &[T::TYPE]);
    const ANY_BYTES: bool = true;
}

impl<T: Copy, const R: usize> Rows<T, R> {
    /// Combines each of them.
    #[inline(always)]
    pub(crate) fn combine(mut self, second: Self, operator: impl Operator<T>) -> Self {
        for row in 0..R {
            self.0[row] = operator.combine(self.0[row], second.0[row]);
        }
        self
    }
}

/// An operator applied to each of several values at once.
#[derive(Clone, Copy)]
pub(crate) struct Each<O>(pub(crate) O);

impl<T: Copy, O: Operator<T>, const N: usize> Operator<[T; N]> for Each<O> {
    #[inline(always)]
    fn combine(&self, mut first: [T; N], second: [T; N]) -> [T; N] {
        for i in 0..N {
            first[i] = self.0.combine(first[i], second[i]);
        }
        first
    }
}
