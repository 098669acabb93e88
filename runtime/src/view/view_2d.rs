//! Matrices: rows of elements, contiguous or with a pitch.

use std::ops::RangeBounds;

use gpu_std::{DeviceCopy, view::layout};

use super::{View, View2d, View2dMut, ViewMut, along_axis, of_both, resolve, text};
use crate::{DeviceSlice, Error, Result};

/// The layout of `len` elements as rows of `columns` elements.
fn bind(len: usize, columns: usize) -> Result<layout::Layout2d> {
    let rows = match (len, columns) {
        (0, 0) => 0,
        (len, columns) if columns != 0 && len.is_multiple_of(columns) => len / columns,
        (len, columns) => return Err(Error::NotRows { len, columns }),
    };
    match (along_axis(rows), along_axis(columns)) {
        (Some(rows), Some(columns)) => Ok(layout::Layout2d { rows, columns, pitch: columns }),
        _ => Err(Error::TooManyRows { rows, columns }),
    }
}

impl<T: DeviceCopy> DeviceSlice<T> {
    /// Views the elements as a matrix with rows of `columns` elements: the argument for `View2d<T>`.
    ///
    /// A pitched matrix (`cudaMallocPitch`) is a part of a wider one: `slice.view_2d(pitch)?.part(.., ..columns)?`.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let pixels = device.zeroed::<u8>(640 * 480)?;
    /// let rows = pixels.view_2d(640)?;
    /// assert_eq!((rows.rows(), rows.columns()), (480, 640));
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotRows`] if the elements are not whole rows, [`Error::TooManyRows`] if there are 2³¹ rows or columns, or more.
    #[doc(alias = "reshape", alias = "cudaMallocPitch", alias = "mdspan")]
    pub fn view_2d(&self, columns: usize) -> Result<View2d<'_, T>> {
        let layout = bind(self.len(), columns)?;
        // SAFETY: the rows are all elements of this slice, which stays borrowed.
        Ok(unsafe { View::new(self.place(), layout) })
    }

    /// Views the elements as a matrix with rows of `columns` elements, for writing: the argument for `PerThread2d<T>` and
    /// `BlockTiles2d<T, …>`.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let mut pixels = device.zeroed::<u8>(640 * 480)?;
    /// let rows = pixels.view_2d_mut(640)?;
    /// assert_eq!((rows.rows(), rows.columns()), (480, 640));
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`view_2d`](Self::view_2d).
    pub fn view_2d_mut(&mut self, columns: usize) -> Result<View2dMut<'_, T>> {
        let layout = bind(self.len(), columns)?;
        // SAFETY: as above, for writing.
        Ok(unsafe { ViewMut::new(self.place(), layout) })
    }
}

of_both! { layout::Layout2d: {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.layout.rows as usize
    }

    /// The number of elements per row.
    pub fn columns(&self) -> usize {
        self.layout.columns as usize
    }

    /// The number of elements from the start of one row to that of the next.
    pub fn pitch(&self) -> usize {
        self.layout.pitch as usize
    }

    /// Returns the submatrix of these rows and columns.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let matrix = device.zeroed::<f32>(6 * 8)?;
    /// let part = matrix.view_2d(8)?.part(1..3, 2..)?;
    /// assert_eq!((part.rows(), part.columns(), part.pitch()), (2, 6, 8));
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutsideOfView`] if a range is out of bounds.
    pub fn part(self, rows: impl RangeBounds<usize>, columns: impl RangeBounds<usize>) -> Result<Self> {
        let ranges = (resolve(&rows, self.rows()), resolve(&columns, self.columns()));
        let (Some((top, bottom)), Some((left, right))) = ranges else {
            return Err(Error::OutsideOfView {
                asked: format!("rows {}, columns {}", text(&rows), text(&columns)),
                of: format!("{} rows of {} columns", self.rows(), self.columns()),
            });
        };
        // Both differences are at most what a `u32` held.
        let layout = layout::Layout2d { rows: (bottom - top) as u32, columns: (right - left) as u32, ..self.layout };
        let offset = match layout.rows == 0 || layout.columns == 0 {
            true => 0,
            false => top * self.pitch() + left,
        };
        // SAFETY: these elements are among those of this view, which is used up.
        Ok(unsafe { Self::new(self.place.after::<T>(offset), layout) })
    }

    /// Splits after the first `rows` rows.
    ///
    /// # Errors
    /// [`Error::OutsideOfView`] if there are fewer.
    pub fn split_rows(self, rows: usize) -> Result<(Self, Self)> {
        // SAFETY: a copy of the view, of which another part is used than of the first.
        let lower = unsafe { Self::new(self.place, self.layout) }.part(rows.., ..)?;
        Ok((self.part(..rows, ..)?, lower))
    }

    /// Splits after the first `columns` columns.
    ///
    /// # Errors
    /// [`Error::OutsideOfView`] if there are fewer.
    pub fn split_columns(self, columns: usize) -> Result<(Self, Self)> {
        // SAFETY: as in `split_rows`.
        let right = unsafe { Self::new(self.place, self.layout) }.part(.., columns..)?;
        Ok((self.part(.., ..columns)?, right))
    }
} }

impl<'a, T: DeviceCopy> View2d<'a, T> {
    /// Returns one column, as a strided view.
    ///
    /// # Errors
    /// [`Error::OutsideOfView`] if there is no such column.
    pub fn column(self, column: usize) -> Result<View<'a, T, layout::StridedLayout>> {
        let part = self.part(.., column..=column)?;
        // SAFETY: a column is its elements, a pitch apart.
        Ok(unsafe { View::new(part.place, part.layout.as_column()) })
    }
}

impl<'a, T: DeviceCopy> View2dMut<'a, T> {
    /// Returns one column, as a strided view.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let mut matrix = device.zeroed::<f32>(6 * 8)?;
    /// let column = matrix.view_2d_mut(8)?.column(3)?;
    /// assert_eq!((column.len(), column.step()), (6, 8));
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutsideOfView`] if there is no such column.
    pub fn column(self, column: usize) -> Result<ViewMut<'a, T, layout::StridedLayout>> {
        let part = self.part(.., column..=column)?;
        // SAFETY: as for reading.
        Ok(unsafe { ViewMut::new(part.place, part.layout.as_column()) })
    }
}
