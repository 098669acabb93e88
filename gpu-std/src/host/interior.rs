//! Interior threads: those whose position is inside of all memory that the kernel indexes by it, and away from the bounds.
//!
//! On the CPU they are the threads whose accesses need no bounds checks. There are other threads only at the ends of rows, in a launch with a
//! thread for each position. So the compiler gets a loop over a row's interior threads without anything that can fail.

use core::ops::Range;

use super::ThreadContext;
use crate::{Dim3, view::layout::Extents};

/// How far from an interior thread's own element those may lie which it reaches without bounds checks.
pub(crate) const MARGIN: usize = 2;

/// The extents of what no thread is outside of.
pub(crate) const UNLIMITED: Extents = (usize::MAX, usize::MAX, usize::MAX);

/// The extents of what all threads are outside of.
pub(crate) const NOTHING: Extents = (0, 0, 0);

/// The threads of a launch, as positions in memory along `dims` axes.
#[derive(Clone, Copy, Debug)]
pub struct ThreadGrid {
    dims: u32,
    /// How many there are along each axis.
    threads: Extents,
    block_dim: Dim3,
}

impl ThreadGrid {
    // Inlined, as `row` is: where a kernel is compiled, the number of its axes is a constant.
    #[inline(always)]
    pub(super) fn new(context: &ThreadContext<'_>, dims: u32) -> Self {
        let block_dim = context.block_dim;
        let of = |blocks: u32, threads: u32| blocks as usize * threads as usize;
        let grid = context.grid_dim;
        let (x, y, z) = (of(grid.x, block_dim.x), of(grid.y, block_dim.y), of(grid.z, block_dim.z));
        // As `grid_stride` counts them, and `grid_stride_2d` and `grid_stride_3d` do. A launch has at most isize::MAX threads.
        let threads = match dims {
            3 => (z, y, x),
            2 => (1, y * z, x),
            _ => (1, 1, x * y * z),
        };
        Self { dims: dims.max(1), threads, block_dim }
    }

    /// Returns the extents, if there is a thread for each position within them; [`NOTHING`] if not.
    pub(crate) fn covering(&self, dims: u32, extents: Extents) -> Extents {
        let (layers, rows, columns) = self.threads;
        if dims != self.dims || extents.0 > layers || extents.1 > rows || extents.2 > columns {
            return NOTHING;
        }
        self.within(dims, extents)
    }

    /// Returns the extents of something whose positions have so many axes; [`UNLIMITED`] if they are not the positions of threads.
    pub(crate) fn within(&self, dims: u32, (layers, rows, columns): Extents) -> Extents {
        let along = |axis: u32, extent: usize| if axis <= dims { extent } else { usize::MAX };
        if dims == self.dims { (along(3, layers), along(2, rows), columns) } else { UNLIMITED }
    }

    /// The first thread of a row of the context's block.
    #[inline(always)]
    pub(super) fn row(&self, context: &ThreadContext<'_>) -> Interior {
        let (block, dim, thread) = (context.block_index, self.block_dim, context.thread_index);
        let at = |block: u32, dim: u32, thread: u32| block as usize * dim as usize + thread as usize;
        let (y, z) = (at(block.y, dim.y, thread.y), at(block.z, dim.z, thread.z));
        let column = at(block.x, dim.x, 0);
        let of = |blocks: u32, threads: u32| blocks as usize * threads as usize;
        let (columns, rows) = (of(context.grid_dim.x, dim.x), of(context.grid_dim.y, dim.y));
        let (layer, row, column) = match self.dims {
            3 => (z, y, column),
            2 => (0, y + rows * z, column),
            _ => (0, 0, column + columns * (y + rows * z)),
        };
        Interior { dims: self.dims, layer, row, column }
    }

    /// Those of these threads of a row that are interior ones of the extents.
    pub(super) fn interior(
        &self,
        row: &Interior,
        (layers, rows, columns): Extents,
        threads: Range<u32>,
    ) -> Range<u32> {
        let inside = |index: usize, extent: usize| index >= MARGIN && index < extent.saturating_sub(MARGIN);
        let is_inside =
            (self.dims < 2 || inside(row.row, rows)) && (self.dims < 3 || inside(row.layer, layers));
        let end = columns.saturating_sub(MARGIN).saturating_sub(row.column).min(threads.end as usize);
        let start = MARGIN.saturating_sub(row.column).max(threads.start as usize);
        // Neither is above the number of threads.
        if is_inside && start < end { start as u32..end as u32 } else { 0..0 }
    }
}

/// The position of a thread that is inside of all extents of the kernel's parameters, and [`MARGIN`] away from their bounds.
#[derive(Clone, Copy, Debug)]
pub struct Interior {
    dims: u32,
    layer: usize,
    row: usize,
    column: usize,
}

impl Interior {
    /// The number of axes.
    pub(crate) fn dims(&self) -> u32 {
        self.dims
    }

    /// Returns the position that is so many elements further along an axis, of which the last is 0.
    #[inline(always)]
    pub(crate) fn step(&self, axis: u32, by: isize) -> (usize, usize, usize) {
        let along = |of: u32, index: usize| if axis == of { index.wrapping_add_signed(by) } else { index };
        (along(2, self.layer), along(1, self.row), along(0, self.column))
    }

    /// Whether the position is at least [`MARGIN`] along an axis, of which the last is 0.
    #[inline(always)]
    pub(crate) fn is_beyond_margin(&self, axis: u32) -> bool {
        let index = match axis {
            0 => self.column,
            1 => self.row,
            _ => self.layer,
        };
        index >= MARGIN
    }

    /// The thread that is so many columns further.
    #[inline(always)]
    pub(super) fn at(&self, column: u32) -> Self {
        // SAFETY: a launch has at most isize::MAX threads.
        Self { column: unsafe { self.column.unchecked_add(column as usize) }, ..*self }
    }
}

/// Returns the extents of what is inside of both.
#[inline(always)]
pub(crate) fn both(one: Extents, other: Extents) -> Extents {
    (one.0.min(other.0), one.1.min(other.1), one.2.min(other.2))
}
