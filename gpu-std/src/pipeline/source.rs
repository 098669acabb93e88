//! What pipelines begin with: inputs and ranges.

use core::ops::Range;

use super::{
    Grid, IndexedParallelIterator, ParallelIterator, Position, Refusal,
    division::Division,
    rows::{Rows, start_of_row},
};
use crate::{
    DeviceCopy,
    elementwise::{align_of_lanes, load},
};

/// An input of a pipeline: a contiguous array, which is not written meanwhile. Its items are its elements.
///
/// Closures have other elements by index, with [`get`](Self::get). There are none outside of closures, because the host, too, makes the pipeline, to
/// know its size, and does not have the elements.
///
/// ```
/// use gpu_std::{pipeline::*, prelude::*};
///
/// /// The elements at these indices, 0 where there is none.
/// #[pipeline(f32, f64)]
/// pub fn gather<T: Float>(x: In<T>, indices: In<u32>) -> Out<T> {
///     indices.map(move |i| x.get(i as usize).unwrap_or(T::from_f64(0.0)))
/// }
/// ```
pub struct In<'k, T> {
    elements: Elements<'k, T>,
}

/// The elements of an input, which the host has when the CPU device runs the pipeline, and has not when it measures it.
struct Elements<'k, T> {
    slice: &'k [T],
    /// More than the slice has where there are no elements.
    #[cfg(not(target_arch = "nvptx64"))]
    len: usize,
}

impl<T> Clone for Elements<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Elements<'_, T> {}

impl<'k, T> Elements<'k, T> {
    #[inline(always)]
    fn new(slice: &'k [T]) -> Self {
        Self {
            slice,
            #[cfg(not(target_arch = "nvptx64"))]
            len: slice.len(),
        }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        #[cfg(target_arch = "nvptx64")]
        return self.slice.len();
        #[cfg(not(target_arch = "nvptx64"))]
        return self.len;
    }

    /// The slice, of all elements.
    ///
    /// # Panics
    /// If there are none, because the host measures the pipeline.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn slice(&self) -> &'k [T] {
        #[cfg(not(target_arch = "nvptx64"))]
        if self.slice.len() != self.len {
            no_elements();
        }
        self.slice
    }
}

#[cfg(not(target_arch = "nvptx64"))]
#[cold]
#[track_caller]
fn no_elements() -> ! {
    panic!(
        "the elements of an input are there in the closures of a pipeline only, not where it is made: the host does that, too, to know its size"
    )
}

impl<'k, T: DeviceCopy> In<'k, T> {
    #[doc(hidden)]
    #[inline(always)]
    pub fn new(slice: &'k [T]) -> Self {
        Self { elements: Elements::new(slice) }
    }

    /// An input of so many elements, which are not there.
    #[doc(hidden)]
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn measured(len: usize) -> Self {
        Self { elements: Elements { slice: &[], len } }
    }

    /// Returns the number of elements.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)] // The trait has it.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Returns the element at an index, if there is one: for closures.
    ///
    /// # Panics
    /// Where the pipeline is made, outside of its closures.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn get(&self, index: usize) -> Option<T> {
        self.elements.slice().get(index).copied()
    }
}

impl<T> Clone for In<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<'_, T> {}

impl<T> core::fmt::Debug for In<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("In").field("len", &self.elements.len()).finish_non_exhaustive()
    }
}

// SAFETY: there is an element at each index below the length, or a panic.
unsafe impl<T: DeviceCopy> ParallelIterator for In<'_, T> {
    type Item = T;
    type Scope = Grid;

    #[inline(always)]
    fn scope(&self) -> Grid {
        Grid
    }

    #[inline(always)]
    fn refusal(&self) -> Option<Refusal> {
        None
    }

    #[inline(always)]
    fn positions(&self) -> usize {
        self.elements.len()
    }

    #[inline(always)]
    unsafe fn get(&self, at: Position) -> Option<T> {
        // SAFETY: the caller promises that the index is below the length.
        Some(unsafe { *self.elements.slice().get_unchecked(at.index) })
    }

    #[inline(always)]
    fn is_aligned<const N: usize>(&self) -> bool {
        self.elements.slice.as_ptr().addr() & (align_of_lanes::<T, N>() - 1) == 0
    }

    #[inline(always)]
    unsafe fn lanes<const N: usize>(&self, first: usize) -> [Option<T>; N] {
        // SAFETY: the caller promises that so many elements are there, and aligned.
        unsafe { load::<T, N>(self.elements.slice().as_ptr().add(first)) }.map(Some)
    }
}

// SAFETY: there is an element at each index.
unsafe impl<T: DeviceCopy> IndexedParallelIterator for In<'_, T> {}

/// An input of a pipeline that is a contiguous matrix, which is not written meanwhile: of arrays with more axes, all but the last are rows.
///
/// ```
/// use gpu_std::{pipeline::*, prelude::*};
///
/// /// Each row, less its mean and divided by its standard deviation, scaled and moved.
/// #[pipeline(f32, f64)]
/// pub fn layer_norm<T: Float>(x: In2d<T>, scale: In<T>, offset: In<T>) -> Out2d<T> {
///     x.rows().map(move |row| {
///         let mean = row.mean();
///         let variance = row.map(|v| (v - mean) * (v - mean)).mean();
///         let factor = T::from_f64(1.0) / (variance + T::from_f64(1e-5)).sqrt();
///         row.zip(scale).zip(offset).map(move |((v, scale), offset)| (v - mean) * factor * scale + offset)
///     })
/// }
/// ```
pub struct In2d<'k, T> {
    elements: Elements<'k, T>,
    rows: usize,
    columns: usize,
}

impl<'k, T: DeviceCopy> In2d<'k, T> {
    /// Of the elements of so many rows and columns.
    #[doc(hidden)]
    #[inline(always)]
    pub fn new(slice: &'k [T], [rows, columns]: [usize; 2]) -> Self {
        Self { elements: Elements::new(slice), rows, columns }
    }

    /// An input of so many rows and columns, which are not there.
    #[doc(hidden)]
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn measured([rows, columns]: [usize; 2]) -> Self {
        Self { elements: Elements { slice: &[], len: rows.saturating_mul(columns) }, rows, columns }
    }

    /// Returns the number of columns.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the rows. A block of threads, or a group of lanes, goes through each: the closure of [`map`](super::RowIterator::map) gets it as an iterator, whose reductions are
    /// values at once, and returns an iterator of as many items, or a value.
    #[inline(always)]
    pub fn rows(&self) -> Rows<'k, T> {
        Rows { input: *self }
    }

    /// Returns the number of rows.
    #[inline(always)]
    pub(super) fn row_count(&self) -> usize {
        self.rows
    }

    /// Returns the elements of a row.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    pub(super) fn row(&self, index: usize, division: Division) -> &'k [T] {
        let elements = self.elements.slice();
        // Checked here, and not for all rows when the input is made: before its first load, a thread multiplies once.
        match start_of_row(index, self.columns, elements.len(), division) {
            // SAFETY: the row is inside.
            Some(start) => unsafe { core::slice::from_raw_parts(elements.as_ptr().add(start), self.columns) },
            None => outside(),
        }
    }
}

#[cold]
#[inline(never)]
fn outside() -> ! {
    panic!("a row of an input has fewer elements than columns")
}

impl<T> Clone for In2d<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In2d<'_, T> {}

impl<T> core::fmt::Debug for In2d<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("In2d")
            .field("rows", &self.rows)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

/// A range as a pipeline: its items are its numbers.
///
/// ```
/// use gpu_std::{pipeline::*, prelude::*};
///
/// /// An estimate of π by so many rectangles.
/// #[pipeline]
/// pub fn pi(n: u32) -> Scalar<f64> {
///     let width = 1.0 / f64::from(n);
///     let height = move |i: u32| {
///         let x = (f64::from(i) + 0.5) * width;
///         4.0 / (1.0 + x * x)
///     };
///     range(0..n).map(height).sum().then(move |sum| sum * width)
/// }
/// ```
#[inline(always)]
pub fn range<T: RangeNumber>(range: Range<T>) -> Numbers<T> {
    Numbers { start: range.start, len: T::distance(range) }
}

/// A number type of [`range`]: `usize`, `u32`, `u64`, `i32` or `i64`.
pub trait RangeNumber: Copy + sealed::RangeNumber {}

mod sealed {
    use super::Range;

    #[allow(unreachable_pub)]
    pub trait RangeNumber: Sized {
        fn distance(range: Range<Self>) -> usize;
        /// The number so many steps further, which is in the range.
        fn plus(self, index: usize) -> Self;
    }
}

macro_rules! range_numbers {
    ($($t:ident)*) => {$(
        impl RangeNumber for $t {}

        impl sealed::RangeNumber for $t {
            #[inline(always)]
            fn distance(range: Range<$t>) -> usize {
                if range.start < range.end { range.end.wrapping_sub(range.start) as usize & (usize::MAX >> (64 - $t::BITS)) } else { 0 }
            }

            #[inline(always)]
            fn plus(self, index: usize) -> $t {
                self.wrapping_add(index as $t)
            }
        }
    )*};
}

range_numbers! { usize u32 u64 i32 i64 }

/// The iterator of [`range`].
#[derive(Clone, Copy, Debug)]
pub struct Numbers<T> {
    start: T,
    len: usize,
}

// SAFETY: a number needs no memory.
unsafe impl<T: RangeNumber> ParallelIterator for Numbers<T> {
    type Item = T;
    type Scope = Grid;

    #[inline(always)]
    fn scope(&self) -> Grid {
        Grid
    }

    #[inline(always)]
    fn refusal(&self) -> Option<Refusal> {
        // Indices of chunks and tiles are added to it.
        (self.len > isize::MAX as usize).then_some(Refusal("a range of more than `isize::MAX` numbers"))
    }

    #[inline(always)]
    fn positions(&self) -> usize {
        self.len
    }

    #[inline(always)]
    unsafe fn get(&self, at: Position) -> Option<T> {
        Some(self.start.plus(at.index))
    }
}

// SAFETY: there is a number at each index.
unsafe impl<T: RangeNumber> IndexedParallelIterator for Numbers<T> {}
