//! Accumulators: a lane's part of the matrix that products are added to.

use core::fmt;

use super::{element::MmaAccumulator, fragment::group_and_place};
use crate::unroll;

/// A lane's part of C, the matrix to which products are added (`wmma::fragment` of kind `accumulator`): it has the rows of A
/// and the columns of B.
///
/// ```
/// use gpu_std::{
///     mma::{Accumulator, FragmentA, FragmentB, ConvergedWarp},
///     prelude::{*, warp::*, mma::*},
/// };
///
/// /// `scale` times the product of i8 matrices of 16 × 32 and 32 × 8 elements.
/// #[kernel(block = 32)]
/// pub fn scaled_product(scale: i32, a: View2d<i8>, b: View2d<i8>, mut c: MmaOutput<i32, 16, 8>) {
///     let warp = warp().converged();
///     let a = FragmentA::from_fn(|row, column| a[(row, column)]);
///     let b = FragmentB::from_fn(|row, column| b[(row, column)]);
///     let product = warp.mma(&a, &b, Accumulator::filled(0));
///     c.store((0, 0), &product.map(|sum| scale * sum));
/// }
/// ```
#[doc(alias = "wmma::fragment", alias = "fragment")]
#[doc(alias = "mma.sync")]
#[derive(Clone, Copy)]
pub struct Accumulator<T: MmaAccumulator> {
    registers: T::C,
}

/// Returns the row and column of element `i` of a lane's part.
#[inline(always)]
pub(super) fn place_in_c((group, place): (usize, usize), i: usize) -> (usize, usize) {
    (group + i / 2 * 8, 2 * place + i % 2)
}

impl<T: MmaAccumulator> Accumulator<T> {
    /// The number of elements per lane: 4, or 2 of `f64`.
    pub const LEN: usize = size_of::<T::C>() / size_of::<T>();

    /// Creates the calling lane's part of a matrix whose element at `(row, column)` is `element(row, column)`.
    ///
    /// The function is called for the elements of this lane only.
    #[doc(alias = "wmma::load_matrix_sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn from_fn(mut element: impl FnMut(usize, usize) -> T) -> Self {
        let lane = group_and_place();
        Self::from_indices(|i| {
            let (row, column) = place_in_c(lane, i);
            element(row, column)
        })
    }

    /// Creates the part of a matrix whose elements all have this value (`wmma::fill_fragment`).
    #[doc(alias = "wmma::fill_fragment", alias = "fill_fragment")]
    #[inline(always)]
    pub fn filled(value: T) -> Self {
        Self::from_indices(|_| value)
    }

    /// Applies a function to each element.
    #[inline(always)]
    pub fn map(self, mut change: impl FnMut(T) -> T) -> Self {
        Self::from_indices(|i| change(self.get(i)))
    }

    /// Applies a function to each element and the one at the same position in another matrix.
    #[inline(always)]
    pub fn zip_map(self, other: Self, mut change: impl FnMut(T, T) -> T) -> Self {
        Self::from_indices(|i| change(self.get(i), other.get(i)))
    }

    /// Calls a function with the row, column and value of each element of this lane.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn for_each(&self, mut visit: impl FnMut(usize, usize, T)) {
        let lane = group_and_place();
        unroll::<4>(|i| {
            if i < Self::LEN {
                let (row, column) = place_in_c(lane, i);
                visit(row, column, self.get(i));
            }
        });
    }

    /// Returns the registers, as PTX's `mma` takes them.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(super) fn registers(&self) -> T::C {
        self.registers
    }

    /// Creates it from registers.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(super) fn from_registers(registers: T::C) -> Self {
        Self { registers }
    }

    /// Returns element `i` of this lane; `i` is less than `LEN`.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> T {
        T::unpack(self.registers.as_ref()[i / T::PER_REGISTER], i % T::PER_REGISTER)
    }

    /// Creates it from the elements of the lane by index.
    #[inline(always)]
    pub(super) fn from_indices(mut element: impl FnMut(usize) -> T) -> Self {
        let mut registers = T::EMPTY;
        unroll::<4>(|i| {
            if i < Self::LEN {
                let register = &mut registers.as_mut()[i / T::PER_REGISTER];
                element(i).pack(register, i % T::PER_REGISTER);
            }
        });
        Self { registers }
    }
}

impl<T: MmaAccumulator + fmt::Debug> fmt::Debug for Accumulator<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..Self::LEN).map(|i| self.get(i))).finish()
    }
}
