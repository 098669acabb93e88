//! Tuples of inputs of outputs of two axes at most.

#[cfg(not(target_arch = "nvptx64"))]
use core::mem::MaybeUninit;

use super::Splat;
use crate::DeviceCopy;

/// A tuple of up to eight inputs: [`ViewPlane`](super::ViewPlane), [`PlaneOrScalar`](super::PlaneOrScalar), [`Splat`].
pub trait PlaneInputs: Copy + sealed::PlaneInputs {}

pub(super) use sealed::PlaneInput;
#[cfg(not(target_arch = "nvptx64"))]
use sealed::PlaneRow;

pub(super) mod sealed {
    #[allow(missing_docs, clippy::missing_safety_doc, unreachable_pub)]
    pub trait PlaneInput: Copy {
        type Item: Copy;
        /// Whether there is an element at each position of so many columns and rows.
        fn covers(&self, extents: [u32; 2]) -> bool;
        /// Returns where the element at a position is.
        fn offset(&self, row: u32, column: u32) -> i32;
        fn row_below(&self, offset: i32) -> i32;
        /// # Safety
        /// The offset is that of a position that the input covers.
        unsafe fn get(&self, offset: i32) -> Self::Item;
        /// What the elements of a row are read from: on its own, for a loop that rustc makes vectors of.
        #[cfg(not(target_arch = "nvptx64"))]
        type Row: PlaneRow<Item = Self::Item>;
        /// The row from an offset on.
        #[cfg(not(target_arch = "nvptx64"))]
        fn row(&self, offset: i32) -> Self::Row;
    }

    #[cfg(not(target_arch = "nvptx64"))]
    #[allow(missing_docs, clippy::missing_safety_doc, unreachable_pub)]
    pub trait PlaneRow {
        type Item;
        /// # Safety
        /// The row has so many columns from the first on.
        unsafe fn get(&self, column: usize) -> Self::Item;
    }

    #[allow(missing_docs, clippy::missing_safety_doc, unreachable_pub)]
    pub trait PlaneInputs {
        /// A tuple of an element of each.
        type Items: Copy;
        /// The offset of a position in each.
        type Offsets: Copy;
        fn cover(&self, extents: [u32; 2]) -> bool;
        fn offsets(&self, row: u32, column: u32) -> Self::Offsets;
        fn row_below(&self, offsets: Self::Offsets) -> Self::Offsets;
        /// # Safety
        /// The offsets are those of a position that the inputs cover.
        unsafe fn get(&self, offsets: Self::Offsets) -> Self::Items;
        /// A row of each.
        #[cfg(not(target_arch = "nvptx64"))]
        type Rows;
        #[cfg(not(target_arch = "nvptx64"))]
        fn rows(&self, offsets: Self::Offsets) -> Self::Rows;
        /// # Safety
        /// The rows have so many columns from the first on.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe fn get_in_row(rows: &Self::Rows, column: usize) -> Self::Items;
    }
}

impl<T: DeviceCopy> PlaneInput for Splat<T> {
    type Item = T;

    #[inline(always)]
    fn covers(&self, _: [u32; 2]) -> bool {
        true
    }

    #[inline(always)]
    fn offset(&self, _: u32, _: u32) -> i32 {
        0
    }

    #[inline(always)]
    fn row_below(&self, offset: i32) -> i32 {
        offset
    }

    #[inline(always)]
    unsafe fn get(&self, _: i32) -> T {
        self.0
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Row = Self;

    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn row(&self, _: i32) -> Self {
        *self
    }
}

/// A row of an array.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Debug)]
#[allow(unreachable_pub)] // Sealed traits name it.
pub struct Row<T> {
    pub(super) first: *const T,
    pub(super) along_row: isize,
}

#[cfg(not(target_arch = "nvptx64"))]
impl<T: DeviceCopy> PlaneRow for Row<T> {
    type Item = T;

    #[inline(always)]
    unsafe fn get(&self, column: usize) -> T {
        let offset = (column as isize).wrapping_mul(self.along_row);
        // SAFETY: as the caller promises.
        unsafe { self.first.offset(offset).read() }
    }
}

/// A row of an array, or one value.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Debug)]
#[allow(unreachable_pub)] // Sealed traits name it.
pub struct RowOrScalar<T> {
    pub(super) row: Row<T>,
    pub(super) is_scalar: bool,
    pub(super) value: MaybeUninit<T>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl<T: DeviceCopy> PlaneRow for RowOrScalar<T> {
    type Item = T;

    #[inline(always)]
    unsafe fn get(&self, column: usize) -> T {
        // SAFETY: as the caller promises; a value is written with its mark.
        unsafe { if self.is_scalar { self.value.assume_init() } else { self.row.get(column) } }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl<T: DeviceCopy> PlaneRow for Splat<T> {
    type Item = T;

    #[inline(always)]
    unsafe fn get(&self, _: usize) -> T {
        self.0
    }
}

macro_rules! tuples {
    ($($T:ident $number:tt)*) => {
        impl<$($T: PlaneInput),*> PlaneInputs for ($($T,)*) {}

        impl<$($T: PlaneInput),*> sealed::PlaneInputs for ($($T,)*) {
            type Items = ($($T::Item,)*);
            type Offsets = ($(tuples! { @offset $T },)*);

            #[inline(always)]
            fn cover(&self, extents: [u32; 2]) -> bool {
                $(self.$number.covers(extents))&*
            }

            #[inline(always)]
            fn offsets(&self, row: u32, column: u32) -> Self::Offsets {
                ($(self.$number.offset(row, column),)*)
            }

            #[inline(always)]
            fn row_below(&self, offsets: Self::Offsets) -> Self::Offsets {
                ($(self.$number.row_below(offsets.$number),)*)
            }

            #[inline(always)]
            unsafe fn get(&self, offsets: Self::Offsets) -> Self::Items {
                // SAFETY: as the caller promises.
                unsafe { ($(self.$number.get(offsets.$number),)*) }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            type Rows = ($($T::Row,)*);

            #[cfg(not(target_arch = "nvptx64"))]
            #[inline(always)]
            fn rows(&self, offsets: Self::Offsets) -> Self::Rows {
                ($(self.$number.row(offsets.$number),)*)
            }

            #[cfg(not(target_arch = "nvptx64"))]
            #[inline(always)]
            unsafe fn get_in_row(rows: &Self::Rows, column: usize) -> Self::Items {
                // SAFETY: as the caller promises.
                unsafe { ($(rows.$number.get(column),)*) }
            }
        }
    };
    (@offset $T:ident) => { i32 };
}

tuples! { A 0 }
tuples! { A 0 B 1 }
tuples! { A 0 B 1 C 2 }
tuples! { A 0 B 1 C 2 D 3 }
tuples! { A 0 B 1 C 2 D 3 E 4 }
tuples! { A 0 B 1 C 2 D 3 E 4 F 5 }
tuples! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 }
tuples! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 }
