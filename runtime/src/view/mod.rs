//! Device memory seen in a layout: rows, layers, every n-th element. What launches take for parameters with a layout.
//!
//! A [`View`] reads and a [`ViewMut`] writes. Both are made by [`DeviceSlice`] and cut into parts of the same or another layout;
//! extents are checked here, once, so that kernels can rely on them.

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

use crate::DeviceSlice;

mod strided;
mod view_2d;
mod view_3d;

/// Elements of a [`DeviceSlice`] in a layout, borrowed for reading.
pub struct View<'a, T: DeviceCopy, S: ViewLayout> {
    address: usize,
    layout: S,
    lender: PhantomData<&'a DeviceSlice<T>>,
}

/// Elements of a [`DeviceSlice`] in a layout, borrowed for writing. Those between them are not borrowed.
pub struct ViewMut<'a, T: DeviceCopy, S: ViewLayout> {
    address: usize,
    layout: S,
    lender: PhantomData<&'a mut DeviceSlice<T>>,
}

/// A matrix for reading: what a launch takes for `View2d<T>`. Made by [`DeviceSlice::view_2d`].
pub type View2d<'a, T> = View<'a, T, layout::Layout2d>;
/// A matrix for writing: what a launch takes for `PerThread2d<T>` and `BlockTiles2d<T, …>`. Made by [`DeviceSlice::view_2d_mut`].
pub type View2dMut<'a, T> = ViewMut<'a, T, layout::Layout2d>;
/// A volume for reading: what a launch takes for `View3d<T>`. Made by [`DeviceSlice::view_3d`].
pub type View3d<'a, T> = View<'a, T, layout::Layout3d>;
/// A volume for writing: what a launch takes for `PerThread3d<T>`. Made by [`DeviceSlice::view_3d_mut`].
pub type View3dMut<'a, T> = ViewMut<'a, T, layout::Layout3d>;
/// Every n-th element for reading: what a launch takes for `ViewStrided<T>`. Made by [`DeviceSlice::view_strided`].
pub type ViewStrided<'a, T> = View<'a, T, layout::StridedLayout>;
/// Every n-th element for writing: what a launch takes for `PerThreadStrided<T>`. Made by [`DeviceSlice::view_strided_mut`].
pub type ViewStridedMut<'a, T> = ViewMut<'a, T, layout::StridedLayout>;

impl<T: DeviceCopy, S: ViewLayout> View<'_, T, S> {
    /// # Safety
    /// From the address on, elements lie in this layout, to be read for the lifetime.
    unsafe fn new(address: usize, layout: S) -> Self {
        Self { address, layout, lender: PhantomData }
    }

    pub(crate) fn raw(&self) -> RawView<S> {
        raw::<T, S>(self.address, self.layout)
    }
}

impl<T: DeviceCopy, S: ViewLayout> ViewMut<'_, T, S> {
    /// # Safety
    /// From the address on, elements lie in this layout, to be written by nobody else for the lifetime.
    unsafe fn new(address: usize, layout: S) -> Self {
        Self { address, layout, lender: PhantomData }
    }

    pub(crate) fn raw(&self) -> RawView<S> {
        raw::<T, S>(self.address, self.layout)
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

fn raw<T, S: ViewLayout>(address: usize, layout: S) -> RawView<S> {
    let address = std::ptr::with_exposed_provenance_mut(address);
    RawView { slice: RawSlice { address, len: layout.extent(), element_bytes: size_of::<T>() }, layout }
}

/// Methods of views for reading and for writing alike.
macro_rules! of_both {
    ($layout:ty: $methods:tt) => {
        impl<'a, T: DeviceCopy> View<'a, T, $layout> $methods

        impl<'a, T: DeviceCopy> ViewMut<'a, T, $layout> $methods
    };
}
use of_both;

/// A range in words.
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

/// Start and end of a range below `len`; `None` if it reaches beyond.
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
