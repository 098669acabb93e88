//! Read-only matrices.

use core::slice;

use super::view;
use crate::view::layout::{Layout2d, PlaceLayout};

view! {
    /// A read-only view of a row-major matrix, indexed as `view[(row, column)]`. It is not written during the launch.
    ///
    /// The launch passes `buffer.view_2d(columns)?`, or a part of it: the distance between rows (the leading dimension) may be
    /// larger than their length.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// /// The mean of each element and its neighbours in the row.
    /// #[kernel]
    /// pub fn smooth(from: View2d<f32>, to: PerThread2d<f32>) {
    ///     for ((row, column), to) in to {
    ///         let left = from[(row, column.saturating_sub(1))];
    ///         let right = from[(row, (column + 1).min(from.columns() - 1))];
    ///         *to = (left + from[(row, column)] + right) / 3.0;
    ///     }
    /// }
    /// ```
    #[doc(alias = "mdspan")]
    View2d of Layout2d, at "(row, column)": (usize, usize), else outside
}

impl<'k, T> View2d<'k, T> {
    /// Returns the number of rows.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.layout.rows as usize
    }

    /// Returns the number of columns.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.layout.columns as usize
    }

    /// Returns the address of the first element of a part and the distance of its rows in elements; `None` if some of the
    /// part is outside.
    #[inline(always)]
    pub(crate) fn part(
        &self,
        (row, column): (usize, usize),
        (rows, columns): (usize, usize),
    ) -> Option<(*const T, usize)> {
        let fits = |first: usize, count: usize, all: usize| {
            count != 0 && count <= all && first <= all.wrapping_sub(count)
        };
        (fits(row, rows, self.rows()) && fits(column, columns, self.columns())).then(|| {
            // SAFETY: the part has elements, and they are inside, so its first is.
            let offset = unsafe { self.layout.offset((row, column)) };
            (self.start.wrapping_add(offset), self.layout.pitch as usize)
        })
    }

    /// Returns a whole row, or `None` if `row` is out of bounds.
    #[inline(always)]
    pub fn row(&self, row: usize) -> Option<&'k [T]> {
        (row < self.rows()).then(|| {
            // SAFETY: the row is inside; its elements live as long as the launch, and nobody writes them. A row without columns
            // starts at an offset that may be outside, so it has none.
            unsafe {
                let offset = if self.columns() == 0 { 0 } else { self.layout.offset((row, 0)) };
                slice::from_raw_parts(self.start.add(offset), self.columns())
            }
        })
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside((row, column): (usize, usize), layout: Layout2d) -> ! {
    panic!("({row}, {column}) is outside of a view of {} rows and {} columns", layout.rows, layout.columns)
}
