//! Fragments: a lane's part of the matrices that are multiplied.

use core::fmt;

use super::element::MmaElement;
use crate::{unroll, warp::lane_index};

/// Returns the first row (of a matrix of type A) and column of the elements of this lane.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub(super) fn group_and_place() -> (usize, usize) {
    let lane = lane_index() as usize;
    (lane / 4, lane % 4)
}

/// Returns the row and column of element `i` of a lane's part of A.
#[inline(always)]
fn place_in_a<T: MmaElement>((group, place): (usize, usize), i: usize) -> (usize, usize) {
    let per_register = T::PER_REGISTER;
    let (register, part) = (i / per_register, i % per_register);
    (group + register % 2 * 8, per_register * (place + register / 2 * 4) + part)
}

/// Returns the row and column of element `i` of a lane's part of B.
#[inline(always)]
fn place_in_b<T: MmaElement>((group, place): (usize, usize), i: usize) -> (usize, usize) {
    let per_register = T::PER_REGISTER;
    let (register, part) = (i / per_register, i % per_register);
    (per_register * (place + register * 4) + part, group)
}

macro_rules! fragments {
    ($($(#[$doc:meta])* $name:ident: $registers:ident, $empty:ident, $place:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<T: MmaElement> {
            registers: T::$registers,
        }

        impl<T: MmaElement> $name<T> {
            /// The number of elements per lane.
            pub const LEN: usize = size_of::<T::$registers>() / size_of::<T>();

            /// Creates the calling lane's part of a matrix whose element at `(row, column)` is `element(row, column)`
            /// (`wmma::load_matrix_sync`).
            ///
            /// The function is called for the elements of this lane only.
            #[doc(alias = "wmma::load_matrix_sync", alias = "load_matrix_sync")]
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub fn from_fn(mut element: impl FnMut(usize, usize) -> T) -> Self {
                let lane = group_and_place();
                Self::from_indices(|i| {
                    let (row, column) = $place::<T>(lane, i);
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

            /// Calls a function with the row, column and value of each element of this lane.
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub fn for_each(&self, mut visit: impl FnMut(usize, usize, T)) {
                let lane = group_and_place();
                unroll::<16>(|i| {
                    if i < Self::LEN {
                        let (row, column) = $place::<T>(lane, i);
                        visit(row, column, self.get(i));
                    }
                });
            }

            /// Returns the registers, as PTX's `mma` takes them.
            #[inline(always)]
            pub(super) fn registers(&self) -> T::$registers {
                self.registers
            }

            /// Creates it from registers.
            #[cfg(target_arch = "nvptx64")]
            #[inline(always)]
            pub(super) fn from_registers(registers: T::$registers) -> Self {
                Self { registers }
            }

            #[inline(always)]
            fn get(&self, i: usize) -> T {
                T::unpack(self.registers.as_ref()[i / T::PER_REGISTER], i % T::PER_REGISTER)
            }

            #[inline(always)]
            fn from_indices(mut element: impl FnMut(usize) -> T) -> Self {
                let mut registers = T::$empty;
                unroll::<16>(|i| {
                    if i < Self::LEN {
                        let register = &mut registers.as_mut()[i / T::PER_REGISTER];
                        element(i).pack(register, i % T::PER_REGISTER);
                    }
                });
                Self { registers }
            }
        }

        impl<T: MmaElement + fmt::Debug> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries((0..Self::LEN).map(|i| self.get(i))).finish()
            }
        }
    )*};
}

fragments! {
    /// A lane's part of A, the left matrix of a product (`wmma::fragment` of kind `matrix_a`): `T::ROWS` rows, `T::DEPTH`
    /// columns.
    #[doc(alias = "wmma::fragment", alias = "matrix_a")]
    #[doc(alias = "mma.sync")]
    FragmentA: A, EMPTY_A, place_in_a;
    /// A lane's part of B, the right matrix of a product (`wmma::fragment` of kind `matrix_b`): `T::DEPTH` rows, `T::COLUMNS`
    /// columns.
    #[doc(alias = "wmma::fragment", alias = "matrix_b")]
    #[doc(alias = "mma.sync")]
    FragmentB: B, EMPTY_B, place_in_b;
}
