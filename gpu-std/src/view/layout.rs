//! Layouts of views: extents and distances, which the host binds at the launch and passes along with the address.

use core::hint;

pub(crate) use super::layout_nd::{HasLayout, Offset, Strided};
pub use super::layout_nd::{LayoutNd, MAX_AXES};
pub use super::layout_plane::LayoutPlane;
pub(crate) use super::order::{Divisors, Order, Positions};

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::interior::{Interior, MARGIN};
use crate::{DeviceCopy, signature::Text};

/// The most rows, columns or layers of a view: an index and those of its neighbours are numbers of 32 bits, signed or not.
pub const MOST_ALONG_AXIS: u32 = i32::MAX as u32;

/// A layout of a view. Kernels rely on what the host checked when it bound the layout.
pub trait ViewLayout: DeviceCopy + sealed::ViewLayout {
    /// Returns the number of elements from the first to the last, those in between that the view skips included.
    fn extent(&self) -> usize;
}

pub(super) mod sealed {
    pub trait ViewLayout {}
}

macro_rules! layouts {
    ($($name:ident)*) => {$(
        impl sealed::ViewLayout for $name {}

        // SAFETY: plain numbers with a fixed layout.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceCopy for $name {
    const TYPE: Text = Text::Word(concat!("gpu_std::view::layout::", stringify!($name)));
}
    )*};
}

layouts! { StridedLayout Layout2d Layout3d }

/// A strided vector: every `step`-th element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct StridedLayout {
    /// The number of elements.
    pub len: usize,
    /// The distance from one element to the next, in elements; at least 1.
    pub step: usize,
}

/// A row-major matrix of at most [`MOST_ALONG_AXIS`] rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Layout2d {
    /// The number of rows.
    pub rows: u32,
    /// Elements per row.
    pub columns: u32,
    /// The distance from the start of one row to that of the next, in elements; at least `columns` (the leading dimension of
    /// BLAS).
    #[doc(alias = "leading_dimension", alias = "lda", alias = "ld")]
    pub pitch: u32,
}

/// A volume: layers, each of them a row-major matrix. Of layers, columns and rows of all layers there are at most [`MOST_ALONG_AXIS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Layout3d {
    /// The number of layers.
    pub layers: u32,
    /// Rows per layer.
    pub rows: u32,
    /// Elements per row.
    pub columns: u32,
    /// The distance from the start of one layer to that of the next, in rows; at least `rows`. `layers * layer_pitch` is less
    /// than 2³².
    pub layer_pitch: u32,
    /// The distance from the start of one row to that of the next, in elements; at least `columns`.
    pub row_pitch: u32,
}

impl ViewLayout for StridedLayout {
    fn extent(&self) -> usize {
        match self.len {
            0 => 0,
            len => (len - 1) * self.step + 1,
        }
    }
}

impl ViewLayout for Layout2d {
    fn extent(&self) -> usize {
        match (self.rows, self.columns) {
            (0, _) | (_, 0) => 0,
            (rows, columns) => (rows - 1) as usize * self.pitch as usize + columns as usize,
        }
    }
}

impl ViewLayout for Layout3d {
    fn extent(&self) -> usize {
        match (self.layers, self.rows, self.columns) {
            (0, _, _) | (_, 0, _) | (_, _, 0) => 0,
            (layers, rows, columns) => {
                let last_row = (layers - 1) as usize * self.layer_pitch as usize + (rows - 1) as usize;
                last_row * self.row_pitch as usize + columns as usize
            }
        }
    }
}

impl Layout2d {
    /// Returns the layout of the first column.
    pub fn as_column(self) -> StridedLayout {
        StridedLayout { len: self.rows as usize, step: (self.pitch as usize).max(1) }
    }
}

impl Layout3d {
    /// Returns the layout of the first layer.
    pub fn as_layer(self) -> Layout2d {
        Layout2d { rows: self.rows, columns: self.columns, pitch: self.row_pitch }
    }
}

/// Layers, rows and columns; 1 along axes that a layout does not have. A tuple, because arrays are compared by `memcmp`.
pub(crate) type Extents = (usize, usize, usize);

/// A layout in which a position names an element.
pub(crate) trait PlaceLayout: Copy {
    /// The position of an element.
    type Place: Copy + PartialEq;

    /// The number of axes.
    #[cfg(not(target_arch = "nvptx64"))]
    const AXES: u32;

    /// Layer, row and column as a position; those along axes that the layout does not have are left out.
    #[cfg(not(target_arch = "nvptx64"))]
    fn place(at: Extents) -> Self::Place;

    /// The number of elements along each axis.
    fn extents(self) -> Extents;

    /// Tells the compiler that the positions around a thread's own are inside, if they have as many axes as the thread's.
    ///
    /// # Safety
    /// If so, it is an interior thread of the extents.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    unsafe fn assume_interior(self, thread: &Interior) {
        if cfg!(debug_assertions) || thread.dims() != Self::AXES {
            return;
        }
        let margin = MARGIN as isize;
        // Not as loops, which LLVM deletes before it unrolls them: there are only assumptions in them.
        macro_rules! assume {
            ($($axis:literal)*) => {$(
                if $axis < Self::AXES {
                    // SAFETY: the caller promises that the extents reach so far.
                    unsafe {
                        hint::assert_unchecked(thread.is_beyond_margin($axis));
                        hint::assert_unchecked(self.holds(Self::place(thread.step($axis, margin))));
                        // In the words of the checks that it saves.
                        hint::assert_unchecked(self.holds(Self::place(thread.step($axis, -1))));
                        hint::assert_unchecked(self.holds(Self::place(thread.step($axis, -margin))));
                    }
                }
            )*};
        }
        assume! { 0 1 2 }
    }

    /// Tells the compiler what the host checked when it bound the layout.
    ///
    /// # Safety
    /// The host bound it, or it is of part of what the host bound.
    #[inline(always)]
    unsafe fn assume_checked(self) -> Self {
        self
    }

    /// Whether the position is inside.
    fn holds(self, place: Self::Place) -> bool;

    /// Returns the offset of an element.
    ///
    /// # Safety
    /// The position is inside, and the elements are in memory.
    unsafe fn offset(self, place: Self::Place) -> usize;

    /// As [`offset`](Self::offset), of an element that is accessed without those around it: the compiler relates the offsets of neighbours if they are
    /// computed in 64 bits, and a single one takes fewer instructions in 32.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn offset_alone(self, place: Self::Place) -> usize {
        // SAFETY: by the caller's promise.
        unsafe { self.offset(place) }
    }
}

/// Contiguous elements, by their number.
impl PlaceLayout for usize {
    type Place = usize;

    #[cfg(not(target_arch = "nvptx64"))]
    const AXES: u32 = 1;

    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn place((_, _, column): Extents) -> Self::Place {
        column
    }

    #[inline(always)]
    fn extents(self) -> Extents {
        (1, 1, self)
    }

    #[inline(always)]
    fn holds(self, index: usize) -> bool {
        index < self
    }

    #[inline(always)]
    unsafe fn offset(self, index: usize) -> usize {
        index
    }
}

impl PlaceLayout for StridedLayout {
    type Place = usize;

    #[cfg(not(target_arch = "nvptx64"))]
    const AXES: u32 = 1;

    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn place((_, _, column): Extents) -> Self::Place {
        column
    }

    #[inline(always)]
    fn extents(self) -> Extents {
        (1, 1, self.len)
    }

    #[inline(always)]
    fn holds(self, index: usize) -> bool {
        index < self.len
    }

    #[inline(always)]
    unsafe fn offset(self, index: usize) -> usize {
        // SAFETY: by the caller's promise the product is less than the number of elements in some allocation.
        unsafe { index.unchecked_mul(self.step) }
    }
}

impl PlaceLayout for Layout2d {
    type Place = (usize, usize);

    #[cfg(not(target_arch = "nvptx64"))]
    const AXES: u32 = 2;

    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn place((_, row, column): Extents) -> Self::Place {
        (row, column)
    }

    #[inline(always)]
    fn extents(self) -> Extents {
        (1, self.rows as usize, self.columns as usize)
    }

    #[inline(always)]
    unsafe fn assume_checked(self) -> Self {
        // SAFETY: by the caller's promise; `view_2d` and its parts bind no others.
        unsafe {
            hint::assert_unchecked(self.rows <= MOST_ALONG_AXIS);
            hint::assert_unchecked(self.columns <= MOST_ALONG_AXIS);
        }
        self
    }

    #[inline(always)]
    fn holds(self, (row, column): (usize, usize)) -> bool {
        row < self.rows as usize && column < self.columns as usize
    }

    #[inline(always)]
    unsafe fn offset(self, (row, column): (usize, usize)) -> usize {
        // SAFETY: by the caller's promise the sum is less than the number of elements in some allocation. Of 32 bits, so that it
        // is one `mad.wide.u32`.
        unsafe { row.unchecked_mul(self.pitch as usize).unchecked_add(column) }
    }
}

impl PlaceLayout for Layout3d {
    type Place = (usize, usize, usize);

    #[cfg(not(target_arch = "nvptx64"))]
    const AXES: u32 = 3;

    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn place((layer, row, column): Extents) -> Self::Place {
        (layer, row, column)
    }

    #[inline(always)]
    fn extents(self) -> Extents {
        (self.layers as usize, self.rows as usize, self.columns as usize)
    }

    #[inline(always)]
    unsafe fn assume_checked(self) -> Self {
        // SAFETY: by the caller's promise; `view_3d` and its parts bind no others.
        unsafe {
            hint::assert_unchecked(self.layers <= MOST_ALONG_AXIS);
            hint::assert_unchecked(self.rows <= MOST_ALONG_AXIS);
            hint::assert_unchecked(self.columns <= MOST_ALONG_AXIS);
        }
        self
    }

    #[inline(always)]
    fn holds(self, (layer, row, column): (usize, usize, usize)) -> bool {
        layer < self.layers as usize && row < self.rows as usize && column < self.columns as usize
    }

    #[inline(always)]
    unsafe fn offset(self, (layer, row, column): (usize, usize, usize)) -> usize {
        // SAFETY: by the caller's promise each sum is less than the number of rows, which is less than 2³², or of elements in some allocation.
        unsafe {
            let row = layer.unchecked_mul(self.layer_pitch as usize).unchecked_add(row);
            // Of 64 bits until the compiler has related the offsets of neighbours, then of 32.
            hint::assert_unchecked(row <= u32::MAX as usize);
            row.unchecked_mul(self.row_pitch as usize).unchecked_add(column)
        }
    }

    #[inline(always)]
    unsafe fn offset_alone(self, (layer, row, column): (usize, usize, usize)) -> usize {
        // SAFETY: as above; there are less than 2³² rows, so that the first sum is one of 32 bits.
        unsafe {
            let row = (layer as u32).unchecked_mul(self.layer_pitch).unchecked_add(row as u32);
            (row as usize).unchecked_mul(self.row_pitch as usize).unchecked_add(column)
        }
    }
}
