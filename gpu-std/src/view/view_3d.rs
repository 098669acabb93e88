//! Read-only volumes.

use core::slice;

use super::view;
use crate::view::layout::{Layout3d, PlaceLayout};

view! {
    /// A read-only view of a volume, indexed as `view[(layer, row, column)]`. It is not written during the launch.
    ///
    /// The launch passes `buffer.view_3d(rows, columns)?`, or a part of it.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// /// Differences along the layers.
    /// #[kernel]
    /// pub fn slope(from: View3d<f32>, to: PerThread3d<f32>) {
    ///     for ((layer, row, column), to) in to {
    ///         let next = (layer + 1).min(from.layers() - 1);
    ///         *to = from[(next, row, column)] - from[(layer, row, column)];
    ///     }
    /// }
    /// ```
    #[doc(alias = "mdspan")]
    View3d of Layout3d, at "(layer, row, column)": (usize, usize, usize), else outside
}

impl<'k, T> View3d<'k, T> {
    /// Returns the number of layers.
    #[inline(always)]
    pub fn layers(&self) -> usize {
        self.layout.layers as usize
    }

    /// Returns the number of rows of a layer.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.layout.rows as usize
    }

    /// Returns the number of columns of a layer.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.layout.columns as usize
    }

    /// Returns a whole row, or `None` if `(layer, row)` is out of bounds.
    #[inline(always)]
    pub fn row(&self, (layer, row): (usize, usize)) -> Option<&'k [T]> {
        (layer < self.layers() && row < self.rows()).then(|| {
            // SAFETY: as in `View2d::row`.
            unsafe {
                let offset = if self.columns() == 0 { 0 } else { self.layout.offset((layer, row, 0)) };
                slice::from_raw_parts(self.start.add(offset), self.columns())
            }
        })
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside((layer, row, column): (usize, usize, usize), layout: Layout3d) -> ! {
    panic!(
        "({layer}, {row}, {column}) is outside of a view of {} layers of {} rows and {} columns",
        layout.layers, layout.rows, layout.columns
    )
}
