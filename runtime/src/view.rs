//! Device memory seen in a shape: rows, layers, every n-th element. What launches take for parameters with a shape.
//!
//! A [`View`] reads and a [`ViewMut`] writes. Both are made by [`DeviceSlice`] and cut into parts of the same or another shape;
//! extents are checked here, once, so that kernels can rely on them.

use std::{
    fmt,
    marker::PhantomData,
    ops::{Bound, RangeBounds},
};

use gpu_std::{
    DeviceCopy,
    host::{RawSlice, RawView},
    shape::{self, Shape},
};

use crate::DeviceSlice;

mod layers;
mod rows;
mod strided;

/// Elements of a [`DeviceSlice`] in a shape, borrowed for reading.
pub struct View<'a, T: DeviceCopy, S: Shape> {
    address: usize,
    shape: S,
    lender: PhantomData<&'a DeviceSlice<T>>,
}

/// Elements of a [`DeviceSlice`] in a shape, borrowed for writing. Those between them are not borrowed.
pub struct ViewMut<'a, T: DeviceCopy, S: Shape> {
    address: usize,
    shape: S,
    lender: PhantomData<&'a mut DeviceSlice<T>>,
}

/// A matrix for reading: what a launch takes for `View2d<T>`. Made by [`DeviceSlice::rows`].
pub type Rows<'a, T> = View<'a, T, shape::Rows>;
/// A matrix for writing: what a launch takes for `PerThread2d<T>` and `Tiles2d<T, …>`. Made by [`DeviceSlice::rows_mut`].
pub type RowsMut<'a, T> = ViewMut<'a, T, shape::Rows>;
/// A volume for reading: what a launch takes for `View3d<T>`. Made by [`DeviceSlice::layers`].
pub type Layers<'a, T> = View<'a, T, shape::Layers>;
/// A volume for writing: what a launch takes for `PerThread3d<T>`. Made by [`DeviceSlice::layers_mut`].
pub type LayersMut<'a, T> = ViewMut<'a, T, shape::Layers>;
/// Every n-th element for reading: what a launch takes for `Strided<T>`. Made by [`DeviceSlice::strided`].
pub type Strided<'a, T> = View<'a, T, shape::Strided>;
/// Every n-th element for writing: what a launch takes for `PerThreadStrided<T>`. Made by [`DeviceSlice::strided_mut`].
pub type StridedMut<'a, T> = ViewMut<'a, T, shape::Strided>;

impl<T: DeviceCopy, S: Shape> View<'_, T, S> {
    /// # Safety
    /// From the address on, elements lie in this shape, to be read for the lifetime.
    unsafe fn new(address: usize, shape: S) -> Self {
        Self { address, shape, lender: PhantomData }
    }

    pub(crate) fn raw(&self) -> RawView<S> {
        raw::<T, S>(self.address, self.shape)
    }
}

impl<T: DeviceCopy, S: Shape> ViewMut<'_, T, S> {
    /// # Safety
    /// From the address on, elements lie in this shape, to be written by nobody else for the lifetime.
    unsafe fn new(address: usize, shape: S) -> Self {
        Self { address, shape, lender: PhantomData }
    }

    pub(crate) fn raw(&self) -> RawView<S> {
        raw::<T, S>(self.address, self.shape)
    }
}

impl<T: DeviceCopy, S: Shape> Clone for View<'_, T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: DeviceCopy, S: Shape> Copy for View<'_, T, S> {}

impl<T: DeviceCopy, S: Shape + fmt::Debug> fmt::Debug for View<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl<T: DeviceCopy, S: Shape + fmt::Debug> fmt::Debug for ViewMut<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewMut").field("shape", &self.shape).finish_non_exhaustive()
    }
}

fn raw<T, S: Shape>(address: usize, shape: S) -> RawView<S> {
    let address = std::ptr::with_exposed_provenance_mut(address);
    RawView { slice: RawSlice { address, len: shape.extent(), element_bytes: size_of::<T>() }, shape }
}

/// Methods of views for reading and for writing alike.
macro_rules! of_both {
    ($shape:ty: $methods:tt) => {
        impl<'a, T: DeviceCopy> View<'a, T, $shape> $methods

        impl<'a, T: DeviceCopy> ViewMut<'a, T, $shape> $methods
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
