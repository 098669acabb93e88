//! How elements lie in memory: the shapes of views, which the host binds at the launch and which travel with the address.

use crate::{DeviceCopy, signature::Text};

/// A layout of a view. What the host checked when it bound the layout, kernels rely on.
pub trait ViewLayout: DeviceCopy + sealed::ViewLayout {
    /// How many elements there are from the first to the last, those between them included.
    fn extent(&self) -> usize;
}

mod sealed {
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

/// Every `step`-th element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct StridedLayout {
    /// How many elements.
    pub len: usize,
    /// From one to the next, at least 1.
    pub step: usize,
}

/// A matrix, row by row. Layout2d and columns are counted in 32 bits, as a launch counts its threads along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Layout2d {
    /// How many rows.
    pub rows: u32,
    /// Elements per row.
    pub columns: u32,
    /// Elements from the start of one row to that of the next, at least `columns` (the leading dimension of BLAS).
    pub pitch: u32,
}

/// A volume, layer by layer, each of them row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Layout3d {
    /// How many layers.
    pub layers: u32,
    /// Layout2d per layer.
    pub rows: u32,
    /// Elements per row.
    pub columns: u32,
    /// Layout2d from the start of one layer to that of the next, at least `rows`. `layers * layer_pitch` is less than 2³².
    pub layer_pitch: u32,
    /// Elements from the start of one row to that of the next, at least `columns`.
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
    /// The elements of the first column.
    pub fn as_column(self) -> StridedLayout {
        StridedLayout { len: self.rows as usize, step: (self.pitch as usize).max(1) }
    }
}

impl Layout3d {
    /// The rows of the first layer.
    pub fn as_layer(self) -> Layout2d {
        Layout2d { rows: self.rows, columns: self.columns, pitch: self.row_pitch }
    }
}

impl StridedLayout {
    /// The offset of an element.
    ///
    /// # Safety
    /// The index is less than `len`, and the elements are in memory.
    #[inline(always)]
    pub(crate) unsafe fn offset(self, index: usize) -> usize {
        // SAFETY: by the caller's promise the product is less than the number of elements in some allocation.
        unsafe { index.unchecked_mul(self.step) }
    }
}

impl Layout2d {
    /// Whether the place is inside.
    #[inline(always)]
    pub(crate) fn holds(self, (row, column): (usize, usize)) -> bool {
        row < self.rows as usize && column < self.columns as usize
    }

    /// The offset of an element.
    ///
    /// # Safety
    /// The place is inside, and the elements are in memory.
    #[inline(always)]
    pub(crate) unsafe fn offset(self, (row, column): (usize, usize)) -> usize {
        // SAFETY: by the caller's promise the sum is less than the number of elements in some allocation. Of 32 bits, so that it
        // is one `mad.wide.u32`.
        unsafe { row.unchecked_mul(self.pitch as usize).unchecked_add(column) }
    }
}

impl Layout3d {
    /// Whether the place is inside.
    #[inline(always)]
    pub(crate) fn holds(self, (layer, row, column): (usize, usize, usize)) -> bool {
        layer < self.layers as usize && row < self.rows as usize && column < self.columns as usize
    }

    /// The offset of an element.
    ///
    /// # Safety
    /// The place is inside, and the elements are in memory.
    #[inline(always)]
    pub(crate) unsafe fn offset(self, (layer, row, column): (usize, usize, usize)) -> usize {
        // SAFETY: by the caller's promise each sum is less than the number of rows or elements in some allocation; there are less
        // than 2³² rows, so that the first is one of 32 bits.
        unsafe {
            let row = (layer as u32).unchecked_mul(self.layer_pitch).unchecked_add(row as u32);
            (row as usize).unchecked_mul(self.row_pitch as usize).unchecked_add(column)
        }
    }
}
