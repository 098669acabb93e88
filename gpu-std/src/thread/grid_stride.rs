//! Grid-stride loops: the threads of the grid together visit each index exactly once, whatever the size of the grid.
//!
//! Each loop has one test, `index < end`, and adds the extent of the grid, as a hand-written loop in CUDA C does.

use core::{hint, iter::FusedIterator};

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
    let stride = threads_per_grid();
    GridStride { next: global_rank(), end: len, stride, has_one_round: in_one_round(stride >= len) }
}

/// Returns `is_covered`, or `false`: whether the compiler makes a loop over the positions of a thread that ends after the first one, which is
/// for launches with a thread for each position. They are most launches, and without rounds a loop keeps nothing in registers for the next one.
///
/// `is_covered` must be the same in all threads of a launch.
#[inline(always)]
pub(crate) fn in_one_round(is_covered: bool) -> bool {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            safe fn __gpukernel_in_one_round(is_covered: bool) -> bool;
        }
        __gpukernel_in_one_round(is_covered)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    is_covered
}

/// Iterates over the positions `(row, column)` of a matrix that belong to the calling thread: a grid-stride loop in which the
/// thread's index in the grid gives its first position. x is the column, y (and z, if the grid has that axis) the row.
///
/// Each position is visited by exactly one thread of the grid.
///
/// # Panics
/// If there are more than 2³¹ - 1 rows or columns: threads along an axis are counted in 32 bits. No view has more.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_stride_2d(rows: usize, columns: usize) -> GridStride2d {
    assert!(rows.max(columns) <= MOST_ALONG_AXIS, "grid_stride_2d counts to at most 2³¹ - 1 along an axis");
    let (index, dim) = (global_index(), global_dim());
    let rows = Axis {
        start: index.y.wrapping_add(dim.y.wrapping_mul(index.z)),
        end: rows,
        stride: dim.y.wrapping_mul(dim.z),
    };
    let columns = Axis { start: index.x, end: columns, stride: dim.x };
    let is_covered = rows.in_32_bits().is_covered() && columns.in_32_bits().is_covered();
    GridStride2d { has_one_round: in_one_round(is_covered), ..GridStride2d::new(rows, columns) }
}

/// Iterates over the positions `(layer, row, column)` of a volume that belong to the calling thread: a grid-stride loop in
/// which the thread's index in the grid gives its first position. x is the column, y the row, z the layer.
///
/// Each position is visited by exactly one thread of the grid.
///
/// # Panics
/// If there are more than 2³¹ - 1 layers, rows or columns: threads along an axis are counted in 32 bits. No view has more.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_stride_3d(layers: usize, rows: usize, columns: usize) -> GridStride3d {
    assert!(
        layers.max(rows).max(columns) <= MOST_ALONG_AXIS,
        "grid_stride_3d counts to at most 2³¹ - 1 along an axis"
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
    /// Whether the loop ends after a round: only if it has no other.
    has_one_round: bool,
}

impl GridStride {
    /// `next`, `next + stride`, … below `end`. All three are at most `isize::MAX`; [`takes`](Self::takes) is for a `next` below `stride`.
    #[inline(always)]
    pub(crate) fn new(next: usize, end: usize, stride: usize) -> Self {
        Self { next, end, stride, has_one_round: false }
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
            self.next = if self.has_one_round { self.end } else { index.wrapping_add(self.stride) };
            Some(index)
        } else {
            None
        }
    }
}

impl FusedIterator for GridStride {}

/// The most rows, columns or layers of a loop over positions, which are those of a view.
pub(crate) const MOST_ALONG_AXIS: usize = crate::view::layout::MOST_ALONG_AXIS as usize;

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

impl Axis {
    /// Counts in 32 bits: a GPU needs twice the instructions for 64, or more.
    #[inline(always)]
    fn in_32_bits(self) -> Axis32 {
        debug_assert!(self.end <= MOST_ALONG_AXIS, "views and loops over positions have no longer axes");
        // Whatever is above the last index stays above, so that the loop is the same. Nothing is added to a start that is above.
        let (start, stride) = (self.start.min(u32::MAX as usize), self.stride.min(MOST_ALONG_AXIS));
        Axis32 { start: start as u32, end: self.end as u32, stride: stride as u32 }
    }
}

/// [`Axis`] with an end of at most [`MOST_ALONG_AXIS`]. An index below the end and a stride are no more than 32 bits together.
#[derive(Clone, Copy, Debug)]
struct Axis32 {
    start: u32,
    end: u32,
    stride: u32,
}

impl Axis32 {
    /// Whether `index` is taken. Costs a division.
    #[inline(always)]
    fn takes(&self, index: usize) -> bool {
        index < self.end as usize && index as u32 % self.stride == self.start
    }

    /// Whether each thread of the grid has one index at most, as in most launches.
    #[inline(always)]
    fn is_covered(&self) -> bool {
        self.stride >= self.end
    }

    /// Returns the index that follows `index`, which is below the end.
    #[inline(always)]
    fn after(&self, index: u32) -> u32 {
        index.wrapping_add(self.stride)
    }

    /// Tells the compiler that an index is below the end, and returns it.
    ///
    /// # Safety
    /// It is.
    #[inline(always)]
    unsafe fn inside(&self, index: u32) -> usize {
        // SAFETY: by the caller's promise, and that of the type.
        unsafe {
            hint::assert_unchecked(index < self.end);
            hint::assert_unchecked(index < MOST_ALONG_AXIS as u32);
        }
        // Widened as a signed number, it is marked as no negative one; what is only assumed of it is forgotten where a comparison implies it.
        index as i32 as usize
    }
}

/// The iterator of [`grid_stride_2d`]: `(row, column)`, row by row.
#[derive(Clone, Debug)]
pub struct GridStride2d {
    row: u32,
    /// Below the end if the row is.
    column: u32,
    rows: Axis32,
    columns: Axis32,
    /// Whether the loop ends after a round: only if the grid has a thread for each position.
    has_one_round: bool,
}

impl GridStride2d {
    /// The ends are at most [`MOST_ALONG_AXIS`].
    #[inline(always)]
    pub(crate) fn new(rows: Axis, columns: Axis) -> Self {
        let (mut rows, columns) = (rows.in_32_bits(), columns.in_32_bits());
        // A thread right of the last column has no row either. So the first column of a row needs no test.
        if columns.start >= columns.end {
            rows.end = 0;
        }
        Self { row: rows.start, column: columns.start, rows, columns, has_one_round: false }
    }

    /// Whether each thread of the grid has one position at most.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(crate) fn is_covered(&self) -> bool {
        self.rows.is_covered() && self.columns.is_covered()
    }

    /// Whether the loop visits `(row, column)`.
    #[inline(always)]
    pub(crate) fn takes(&self, row: usize, column: usize) -> bool {
        self.rows.takes(row) && self.columns.takes(column)
    }
}

impl Iterator for GridStride2d {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.row >= self.rows.end {
            return None;
        }
        // SAFETY: the row was compared, and the column is below its end if the row is.
        let position = unsafe { (self.rows.inside(self.row), self.columns.inside(self.column)) };
        if self.has_one_round {
            self.row = self.rows.end;
        } else {
            self.column = self.columns.after(self.column);
            if self.column >= self.columns.end {
                self.column = self.columns.start;
                self.row = self.rows.after(self.row);
            }
        }
        Some(position)
    }
}

impl FusedIterator for GridStride2d {}

/// The iterator of [`grid_stride_3d`]: `(layer, row, column)`, layer by layer.
#[derive(Clone, Debug)]
pub struct GridStride3d {
    layer: u32,
    /// Below their ends if the layer is.
    row: u32,
    column: u32,
    layers: Axis32,
    rows: Axis32,
    columns: Axis32,
    /// Whether the loop ends after a round: only if the grid has a thread for each position.
    has_one_round: bool,
}

impl GridStride3d {
    /// The ends are at most [`MOST_ALONG_AXIS`].
    #[inline(always)]
    fn new(layers: Axis, rows: Axis, columns: Axis) -> Self {
        let (mut layers, rows, columns) = (layers.in_32_bits(), rows.in_32_bits(), columns.in_32_bits());
        let is_covered = layers.is_covered() && rows.is_covered() && columns.is_covered();
        // A thread outside of the rows or columns has no layer either. So the first row and column need no test.
        if rows.start >= rows.end || columns.start >= columns.end {
            layers.end = 0;
        }
        let (layer, row, column) = (layers.start, rows.start, columns.start);
        Self { layer, row, column, layers, rows, columns, has_one_round: in_one_round(is_covered) }
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
        // SAFETY: the layer was compared, and the others are below their ends if the layer is.
        let position = unsafe {
            (self.layers.inside(self.layer), self.rows.inside(self.row), self.columns.inside(self.column))
        };
        if self.has_one_round {
            self.layer = self.layers.end;
        } else {
            self.column = self.columns.after(self.column);
            if self.column >= self.columns.end {
                self.column = self.columns.start;
                self.row = self.rows.after(self.row);
                if self.row >= self.rows.end {
                    self.row = self.rows.start;
                    self.layer = self.layers.after(self.layer);
                }
            }
        }
        Some(position)
    }
}

impl FusedIterator for GridStride3d {}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    fn axis(start: usize, end: usize, stride: usize) -> Axis {
        Axis { start, end, stride }
    }

    /// Asked again behind the end, an index of 32 bits would come round.
    #[test]
    fn nothing_follows_the_end() {
        let most = MOST_ALONG_AXIS;
        for (end, stride) in [(most, most - 1), (most, most), (most, usize::MAX), (1, 1), (0, 1), (3, 2)] {
            let indices: Vec<_> = (0..end).step_by(stride).collect();
            let mut places = GridStride2d::new(axis(0, end, stride), axis(0, 1, most));
            assert!(places.by_ref().map(|(row, _)| row).eq(indices.iter().copied()), "{end} by {stride}");
            assert!((0..20).all(|_| places.next().is_none()), "{end} by {stride}");
            let mut places = GridStride3d::new(axis(0, end, stride), axis(0, 1, 1), axis(0, 1, most));
            assert!(places.by_ref().map(|(layer, ..)| layer).eq(indices), "{end} by {stride}");
            assert!((0..20).all(|_| places.next().is_none()), "{end} by {stride}");
        }
    }

    #[test]
    fn threads_take_all_positions_once() {
        for (grid, ends) in
            [((1, 1, 1), (2, 3, 4)), ((2, 3, 4), (2, 3, 4)), ((3, 2, 5), (4, 5, 3)), ((4, 4, 4), (1, 0, 2))]
        {
            let (mut of_matrix, mut of_volume) = (Vec::new(), Vec::new());
            for (z, y, x) in
                (0..grid.0).flat_map(|z| (0..grid.1).flat_map(move |y| (0..grid.2).map(move |x| (z, y, x))))
            {
                let (layers, rows, columns) =
                    (axis(z, ends.0, grid.0), axis(y, ends.1, grid.1), axis(x, ends.2, grid.2));
                if z == 0 {
                    of_matrix.extend(GridStride2d::new(rows, columns));
                }
                of_volume.extend(GridStride3d::new(layers, rows, columns));
            }
            of_matrix.sort_unstable();
            of_volume.sort_unstable();
            let matrix = (0..ends.1).flat_map(|row| (0..ends.2).map(move |column| (row, column)));
            assert!(of_matrix.iter().copied().eq(matrix.clone()), "{grid:?} {ends:?}");
            let volume =
                (0..ends.0).flat_map(|layer| matrix.clone().map(move |(row, column)| (layer, row, column)));
            assert!(of_volume.into_iter().eq(volume), "{grid:?} {ends:?}");
        }
    }
}
