//! Interior threads: those whose position is inside of all memory that the kernel indexes by it, and away from the bounds.
//!
//! On the CPU they are the threads whose accesses need no bounds checks. There are other threads only at the ends of rows, in a launch with a
//! thread for each position. So the compiler gets a loop over a row's interior threads without anything that can fail.

use core::ops::Range;

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
    grid_dim: Dim3,
    block_dim: Dim3,
}

impl ThreadGrid {
    // Inlined, as `row` is: where a kernel is compiled, the number of its axes is a constant.
    #[inline(always)]
    pub(super) fn new(grid_dim: Dim3, block_dim: Dim3, dims: u32) -> Self {
        let of = |blocks: u32, threads: u32| blocks as usize * threads as usize;
        let (x, y, z) =
            (of(grid_dim.x, block_dim.x), of(grid_dim.y, block_dim.y), of(grid_dim.z, block_dim.z));
        // As `grid_stride` counts them, and `grid_stride_2d` and `grid_stride_3d` do. A launch has at most isize::MAX threads.
        let threads = match dims {
            3 => (z, y, x),
            2 => (1, y * z, x),
            _ => (1, 1, x * y * z),
        };
        Self { dims: dims.max(1), threads, grid_dim, block_dim }
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

    /// The first thread of the row of a block that a thread is in.
    #[inline(always)]
    pub(super) fn row(&self, block: Dim3, thread: Dim3) -> Interior {
        let dim = self.block_dim;
        let at = |block: u32, dim: u32, thread: u32| block as usize * dim as usize + thread as usize;
        let (y, z) = (at(block.y, dim.y, thread.y), at(block.z, dim.z, thread.z));
        let column = at(block.x, dim.x, 0);
        let of = |blocks: u32, threads: u32| blocks as usize * threads as usize;
        let (columns, rows) = (of(self.grid_dim.x, dim.x), of(self.grid_dim.y, dim.y));
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

/// The position of a thread that is inside of all extents of the kernel's parameters, and two elements away from their bounds.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::layout::{Layout2d, Layout3d, PlaceLayout};

    const BLOCKS: [Dim3; 4] =
        [Dim3::new(1, 1, 1), Dim3::new(4, 1, 1), Dim3::new(3, 2, 1), Dim3::new(2, 2, 2)];
    const GRIDS: [Dim3; 4] = [Dim3::new(1, 1, 1), Dim3::new(5, 1, 1), Dim3::new(4, 5, 1), Dim3::new(4, 3, 3)];

    fn places(dim: Dim3) -> impl Iterator<Item = Dim3> {
        (0..dim.z)
            .flat_map(move |z| (0..dim.y).flat_map(move |y| (0..dim.x).map(move |x| Dim3::new(x, y, z))))
    }

    /// Whether everything holds that `assume_interior` says.
    fn is_true<L: PlaceLayout>(layout: L, thread: &Interior) -> bool {
        let margin = MARGIN as isize;
        thread.dims() != L::AXES
            || (0..L::AXES).all(|axis| {
                thread.is_beyond_margin(axis)
                    && (-margin..=margin).all(|by| layout.holds(L::place(thread.step(axis, by))))
            })
    }

    /// Calls `found` for each interior thread of an output with this layout and of an input with the other one: its position and what a
    /// grid-stride loop counts from.
    fn each_interior<L: PlaceLayout>(
        (dims, output, input): (u32, L, L),
        (grid_dim, block_dim): (Dim3, Dim3),
        mut found: impl FnMut(Interior, Dim3),
    ) {
        let grid = ThreadGrid::new(grid_dim, block_dim, dims);
        let extents = both(grid.covering(L::AXES, output.extents()), grid.within(L::AXES, input.extents()));
        for block in places(grid_dim) {
            for first in places(Dim3 { x: 1, ..block_dim }) {
                let row = grid.row(block, first);
                for x in grid.interior(&row, extents, 0..block_dim.x) {
                    let at = |block: u32, dim: u32, thread: u32| block * dim + thread;
                    let global = Dim3::new(
                        at(block.x, block_dim.x, x),
                        at(block.y, block_dim.y, first.y),
                        at(block.z, block_dim.z, first.z),
                    );
                    found(row.at(x), global);
                }
            }
        }
    }

    #[test]
    fn interior_threads_are_where_their_loops_begin_and_inside_of_all_memory() {
        let mut count = 0;
        for (grid, block) in GRIDS.into_iter().flat_map(|grid| BLOCKS.map(|block| (grid, block))) {
            let dim = Dim3::new(grid.x * block.x, grid.y * block.y, grid.z * block.z);
            for (rows, columns) in (0..12).flat_map(|rows| (0..21).map(move |columns| (rows, columns))) {
                let at = |index: Dim3| index.x + dim.x * (index.y + dim.y * index.z);
                each_interior((1, rows * columns, rows * columns + 1), (grid, block), |thread, index| {
                    assert!(is_true(rows * columns, &thread) && is_true(rows * columns + 1, &thread));
                    assert_eq!(thread.step(0, 0).2, at(index) as usize);
                    count += 1;
                });
                let layout = |rows: usize, columns: usize| Layout2d {
                    rows: rows as u32,
                    columns: columns as u32,
                    pitch: columns as u32,
                };
                let (output, input) = (layout(rows, columns), layout(rows + 1, columns.saturating_sub(1)));
                each_interior((2, output, input), (grid, block), |thread, index| {
                    assert!(is_true(output, &thread) && is_true(input, &thread));
                    let row = index.y + dim.y * index.z;
                    assert_eq!(thread.step(0, 0), (0, row as usize, index.x as usize));
                    count += 1;
                });
                for layers in 5..8 {
                    let volume = |layers: u32| Layout3d {
                        layers,
                        rows: rows as u32,
                        columns: columns as u32,
                        layer_pitch: rows as u32,
                        row_pitch: columns as u32,
                    };
                    let (output, input) = (volume(layers), volume(6));
                    each_interior((3, output, input), (grid, block), |thread, index| {
                        assert!(is_true(output, &thread) && is_true(input, &thread));
                        let place = (index.z as usize, index.y as usize, index.x as usize);
                        assert_eq!(thread.step(0, 0), place);
                        count += 1;
                    });
                }
            }
        }
        assert!(count > 1000, "{count} interior threads are too few to say much");
    }

    #[test]
    fn grids_smaller_than_an_output_have_no_interior_threads() {
        let count = |output: usize, input: usize| {
            let mut count = 0;
            let shape = (Dim3::new(5, 1, 1), Dim3::new(4, 1, 1));
            each_interior((1, output, input), shape, |_, _| count += 1);
            count
        };
        assert_eq!(count(21, 30), 0, "an element is left for a second round");
        assert_eq!(count(20, 30), 16);
        assert_eq!(count(20, 10), 6);
        assert_eq!(count(20, 4), 0);
    }
}
