//! Views of device memory with a layout: matrices, volumes, every n-th element. They are the arguments of launches for parameters with
//! a layout.
//!
//! A [`View`] is for reading, a [`ViewMut`] for writing. [`DeviceSlice`] creates both, and they are divided into parts of the same or
//! another layout; extents are checked here, once, so that kernels can rely on them.

use std::{
    fmt,
    marker::PhantomData,
    ops::{Bound, RangeBounds},
};

use gpu_std::{
    DeviceCopy,
    host::{RawSlice, RawView},
    view::layout::{self, ViewLayout},
};

use crate::{DeviceSlice, memory::DevicePointer};

mod copy;
mod strided;
mod view_2d;
mod view_3d;
mod view_nd;

pub(crate) use copy::{Region, Rows, RowsLayout};

/// An extent as kernels count it, if it is not too large.
fn along_axis(extent: usize) -> Option<u32> {
    u32::try_from(extent).ok().filter(|&extent| extent <= layout::MOST_ALONG_AXIS)
}

/// Elements of a [`DeviceSlice`] with a layout, borrowed for reading (`cuda::std::mdspan`).
#[doc(alias = "mdspan")]
pub struct View<'a, T: DeviceCopy, S: ViewLayout> {
    place: DevicePointer,
    layout: S,
    lender: PhantomData<&'a DeviceSlice<T>>,
}

/// Elements of a [`DeviceSlice`] with a layout, borrowed for writing. Elements between them are not borrowed.
#[doc(alias = "mdspan")]
pub struct ViewMut<'a, T: DeviceCopy, S: ViewLayout> {
    place: DevicePointer,
    layout: S,
    lender: PhantomData<&'a mut DeviceSlice<T>>,
}

/// A matrix for reading: the argument for `View2d<T>`. Created by [`DeviceSlice::view_2d`].
pub type View2d<'a, T> = View<'a, T, layout::Layout2d>;
/// A matrix for writing: the argument for `PerThread2d<T>` and `BlockTiles2d<T, …>`. Created by [`DeviceSlice::view_2d_mut`].
pub type View2dMut<'a, T> = ViewMut<'a, T, layout::Layout2d>;
/// A volume for reading: the argument for `View3d<T>`. Created by [`DeviceSlice::view_3d`].
pub type View3d<'a, T> = View<'a, T, layout::Layout3d>;
/// A volume for writing: the argument for `PerThread3d<T>`. Created by [`DeviceSlice::view_3d_mut`].
pub type View3dMut<'a, T> = ViewMut<'a, T, layout::Layout3d>;
/// Every n-th element for reading: the argument for `ViewStrided<T>`. Created by [`DeviceSlice::view_strided`].
pub type ViewStrided<'a, T> = View<'a, T, layout::StridedLayout>;
/// Every n-th element for writing: the argument for `PerThreadStrided<T>`. Created by [`DeviceSlice::view_strided_mut`].
pub type ViewStridedMut<'a, T> = ViewMut<'a, T, layout::StridedLayout>;
/// An array of any strides for reading: the argument for `ViewNdOrScalar<T>`. Created by [`DeviceSlice::view_nd`].
pub type ViewNd<'a, T> = View<'a, T, layout::LayoutNd>;
/// An array of any strides for writing: the argument for `PerThreadNd<T>` and `PerThreadRows<T>`. Created by [`DeviceSlice::view_nd_mut`].
pub type ViewNdMut<'a, T> = ViewMut<'a, T, layout::LayoutNd>;
/// An array of two axes at most, of any strides, for reading: the argument for `ViewPlane<T>` and, as `OrScalar::Memory`, for `PlaneOrScalar<T>`. Created by [`ViewNd::as_plane`].
pub type ViewPlane<'a, T> = View<'a, T, layout::LayoutPlane>;
/// An array of two axes at most, of any strides, for writing: the argument for `PerThreadPlane<T>`. Created by [`ViewNdMut::as_plane`].
pub type ViewPlaneMut<'a, T> = ViewMut<'a, T, layout::LayoutPlane>;

impl<T: DeviceCopy, S: ViewLayout> View<'_, T, S> {
    /// # Safety
    /// From the place on there are elements in this layout, which may be read for the lifetime.
    unsafe fn new(place: DevicePointer, layout: S) -> Self {
        Self { place, layout, lender: PhantomData }
    }

    pub(crate) fn raw(&self) -> RawView<S> {
        raw::<T, S>(self.place, self.layout)
    }
}

impl<T: DeviceCopy, S: ViewLayout> ViewMut<'_, T, S> {
    /// # Safety
    /// From the place on there are elements in this layout, to which the caller has exclusive access for the lifetime.
    unsafe fn new(place: DevicePointer, layout: S) -> Self {
        Self { place, layout, lender: PhantomData }
    }

    pub(crate) fn raw(&self) -> RawView<S> {
        raw::<T, S>(self.place, self.layout)
    }
}

impl<T: DeviceCopy, S: ViewLayout> Clone for View<'_, T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: DeviceCopy, S: ViewLayout> Copy for View<'_, T, S> {}

impl<T: DeviceCopy, S: ViewLayout + fmt::Debug> fmt::Debug for View<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl<T: DeviceCopy, S: ViewLayout + fmt::Debug> fmt::Debug for ViewMut<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewMut").field("layout", &self.layout).finish_non_exhaustive()
    }
}

fn raw<T, S: ViewLayout>(place: DevicePointer, layout: S) -> RawView<S> {
    RawView { slice: raw_slice::<T>(place, layout.extent()), layout }
}

/// Elements as launches take them.
pub(crate) fn raw_slice<T>(place: DevicePointer, len: usize) -> RawSlice {
    RawSlice {
        address: std::ptr::with_exposed_provenance_mut(place.address),
        len,
        element_bytes: size_of::<T>(),
        allocation: place.allocation.number(),
    }
}

/// Defines methods of both `View` and `ViewMut`.
macro_rules! of_both {
    ($layout:ty: $methods:tt) => {
        impl<'a, T: DeviceCopy> View<'a, T, $layout> $methods

        impl<'a, T: DeviceCopy> ViewMut<'a, T, $layout> $methods
    };
}
use of_both;

/// A range as text for error messages.
fn text(range: &impl RangeBounds<usize>) -> String {
    let start = match range.start_bound() {
        Bound::Included(start) => start.to_string(),
        Bound::Excluded(before) => format!("{before} + 1"),
        Bound::Unbounded => String::new(),
    };
    match range.end_bound() {
        Bound::Included(last) => format!("{start}..={last}"),
        Bound::Excluded(end) => format!("{start}..{end}"),
        Bound::Unbounded => format!("{start}.."),
    }
}

/// Start and end of a range of `len` elements; `None` if it is out of bounds.
pub(crate) fn resolve(range: &impl RangeBounds<usize>, len: usize) -> Option<(usize, usize)> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.checked_add(1)?,
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    (start <= end && end <= len).then_some((start, end))
}
