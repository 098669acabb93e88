//! Grid-stride loops: the threads of the grid together visit each index exactly once, whatever the size of the grid.
//!
//! Each loop has one test, `index < end`, and adds the extent of the grid, as a hand-written loop in CUDA C does.

use core::iter::FusedIterator;

use crate::{global_dim, global_index, global_rank, threads_per_grid};

/// Iterates over the indices below `len` that belong to the calling thread: a grid-stride loop, in which thread `i` of `n`
/// gets `i`, `i + n`, `i + 2n`, …
///
/// Each index is visited by exactly one thread of the grid. `len` is at most `isize::MAX`.
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn sum(x: &[f32], total: &[Atomic<f32>]) {
///     let mut mine = 0.0;
///     for i in grid_stride(x.len()) {
///         mine += x[i];
///     }
///     total[0].fetch_add(mine);
/// }
/// ```
#[doc(alias = "grid_stride_loop")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_stride(len: usize) -> GridStride {
    debug_assert!(len <= isize::MAX as usize, "grid_stride counts to at most isize::MAX");
    GridStride { next: global_rank(), end: len, stride: threads_per_grid() }
}

/// Iterates over the positions `(row, column)` of a matrix that belong to the calling thread: a grid-stride loop in which the
/// thread's index in the grid gives its first position. x is the column, y (and z, if the grid has that axis) the row.
///
/// Each position is visited by exactly one thread of the grid. Rows and columns are at most `isize::MAX`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_stride_2d(rows: usize, columns: usize) -> GridStride2d {
    debug_assert!(rows.max(columns) <= isize::MAX as usize, "grid_stride_2d counts to at most isize::MAX");
    let (index, dim) = (global_index(), global_dim());
    GridStride2d::new(
        Axis {
            start: index.y.wrapping_add(dim.y.wrapping_mul(index.z)),
            end: rows,
            stride: dim.y.wrapping_mul(dim.z),
        },
        Axis { start: index.x, end: columns, stride: dim.x },
    )
}

/// Iterates over the positions `(layer, row, column)` of a volume that belong to the calling thread: a grid-stride loop in
/// which the thread's index in the grid gives its first position. x is the column, y the row, z the layer.
///
/// Each position is visited by exactly one thread of the grid. Each extent is at most `isize::MAX`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_stride_3d(layers: usize, rows: usize, columns: usize) -> GridStride3d {
    debug_assert!(
        layers.max(rows).max(columns) <= isize::MAX as usize,
        "grid_stride_3d counts to at most isize::MAX"
    );
    let (index, dim) = (global_index(), global_dim());
    GridStride3d::new(
        Axis { start: index.z, end: layers, stride: dim.z },
        Axis { start: index.y, end: rows, stride: dim.y },
        Axis { start: index.x, end: columns, stride: dim.x },
    )
}

/// The iterator of [`grid_stride`].
#[derive(Clone, Debug)]
pub struct GridStride {
    next: usize,
    end: usize,
    stride: usize,
}

impl GridStride {
    /// `next`, `next + stride`, … below `end`, where `next` is less than `stride`.
    #[inline(always)]
    pub(crate) fn new(next: usize, end: usize, stride: usize) -> Self {
        Self { next, end, stride }
    }

    /// Whether the loop visits `index` or has visited it, given that it has not begun.
    #[inline(always)]
    pub(crate) fn takes(&self, index: usize) -> bool {
        Axis { start: self.next, end: self.end, stride: self.stride }.takes(index)
    }
}

impl Iterator for GridStride {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.next < self.end {
            let index = self.next;
            // The stride is at most isize::MAX and so is `index`: this does not overflow.
            self.next = index.wrapping_add(self.stride);
            Some(index)
        } else {
            None
        }
    }
}

impl FusedIterator for GridStride {}

/// The indices of one thread along one axis: `start`, `start + stride`, … below `end`, where `start < stride`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) stride: usize,
}

impl Axis {
    /// Whether `index` is taken. Costs a division.
    #[inline(always)]
    pub(crate) fn takes(&self, index: usize) -> bool {
        index < self.end && index % self.stride == self.start
    }
}

/// The iterator of [`grid_stride_2d`]: `(row, column)`, row by row.
#[derive(Clone, Debug)]
pub struct GridStride2d {
    row: usize,
    column: usize,
    rows: Axis,
    columns: Axis,
}

impl GridStride2d {
    #[inline(always)]
    pub(crate) fn new(rows: Axis, columns: Axis) -> Self {
        // A thread right of the last column has no row either. So the first column of a row needs no test.
        let end = if columns.start < columns.end { rows.end } else { 0 };
        Self { row: rows.start, column: columns.start, rows: Axis { end, ..rows }, columns }
    }

    /// Whether the loop visits `(row, column)`.
    #[inline(always)]
    pub(crate) fn takes(&self, row: usize, column: usize) -> bool {
        row < self.rows.end && column < self.columns.end && self.rows.takes(row) && self.columns.takes(column)
    }
}

impl Iterator for GridStride2d {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.row >= self.rows.end {
            return None;
        }
        let place = (self.row, self.column);
        self.column = self.column.wrapping_add(self.columns.stride);
        if self.column >= self.columns.end {
            self.column = self.columns.start;
            self.row = self.row.wrapping_add(self.rows.stride);
        }
        Some(place)
    }
}

impl FusedIterator for GridStride2d {}

/// The iterator of [`grid_stride_3d`]: `(layer, row, column)`, layer by layer.
#[derive(Clone, Debug)]
pub struct GridStride3d {
    layer: usize,
    row: usize,
    column: usize,
    layers: Axis,
    rows: Axis,
    columns: Axis,
}

impl GridStride3d {
    #[inline(always)]
    fn new(layers: Axis, rows: Axis, columns: Axis) -> Self {
        // A thread outside of the rows or columns has no layer either. So the first row and column need no test.
        let end = if rows.start < rows.end && columns.start < columns.end { layers.end } else { 0 };
        Self {
            layer: layers.start,
            row: rows.start,
            column: columns.start,
            layers: Axis { end, ..layers },
            rows,
            columns,
        }
    }

    /// Whether the loop visits `(layer, row, column)`.
    #[inline(always)]
    pub(crate) fn takes(&self, layer: usize, row: usize, column: usize) -> bool {
        self.layers.takes(layer) && self.rows.takes(row) && self.columns.takes(column)
    }
}

impl Iterator for GridStride3d {
    type Item = (usize, usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize, usize)> {
        if self.layer >= self.layers.end {
            return None;
        }
        let place = (self.layer, self.row, self.column);
        self.column = self.column.wrapping_add(self.columns.stride);
        if self.column >= self.columns.end {
            self.column = self.columns.start;
            self.row = self.row.wrapping_add(self.rows.stride);
            if self.row >= self.rows.end {
                self.row = self.rows.start;
                self.layer = self.layer.wrapping_add(self.layers.stride);
            }
        }
        Some(place)
    }
}

impl FusedIterator for GridStride3d {}
