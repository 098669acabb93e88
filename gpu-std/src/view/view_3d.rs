//! Read-only volumes.

use core::{fmt, marker::PhantomData, ops::Index, slice};

use super::view_param;
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy,
    param::{Param, ReadStart},
    view::layout,
};

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
pub struct View3d<'k, T> {
    start: *const T,
    layout: layout::Layout3d,
    lender: PhantomData<&'k [T]>,
}

view_param!(View3d, Layout3d);

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

    /// Returns the element at `(layer, row, column)`, or `None` if that is out of bounds.
    #[inline(always)]
    pub fn get(&self, place: (usize, usize, usize)) -> Option<&'k T> {
        // SAFETY: the place is inside, whose elements live as long as the launch; nobody writes them.
        self.layout.holds(place).then(|| unsafe { &*self.start.add(self.layout.offset(place)) })
    }
}

impl<T> Index<(usize, usize, usize)> for View3d<'_, T> {
    type Output = T;

    #[inline(always)]
    #[track_caller]
    fn index(&self, place: (usize, usize, usize)) -> &T {
        match self.get(place) {
            Some(element) => element,
            None => outside(place, self.layout),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside((layer, row, column): (usize, usize, usize), layout: layout::Layout3d) -> ! {
    panic!(
        "({layer}, {row}, {column}) is outside of a view of {} layers of {} rows and {} columns",
        layout.layers, layout.rows, layout.columns
    )
}

impl<T> fmt::Debug for View3d<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View3d").field("layout", &self.layout).finish_non_exhaustive()
    }
}
