//! The elements of a two-dimensional shared array that a thread owns: as [`BlockStride`](crate::BlockStride).

use crate::{block_dim, thread::grid_stride::Axis, thread_index};

/// The positions in a two-dimensional array that a thread owns.
#[derive(Clone, Debug)]
pub(super) struct BlockStride2d {
    row_round: usize,
    column_round: usize,
    rows: Axis,
    columns: Axis,
}

impl BlockStride2d {
    /// Of an array of these extents.
    #[inline(always)]
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        let (index, dim) = (thread_index(), block_dim());
        let columns = Axis { start: index.x as usize, end: columns, stride: dim.x as usize };
        Self {
            row_round: 0,
            column_round: 0,
            rows: Axis {
                start: index.y.wrapping_add(dim.y.wrapping_mul(index.z)) as usize,
                // A thread right of the last column has no row either. So the first column of a row needs no test.
                end: if columns.start < columns.end { rows } else { 0 },
                stride: dim.y.wrapping_mul(dim.z) as usize,
            },
            columns,
        }
    }

    /// Whether the thread owns the element at this position.
    #[inline(always)]
    pub(super) fn takes(&self, row: usize, column: usize) -> bool {
        self.rows.takes(row) && self.columns.takes(column)
    }
}

impl Iterator for BlockStride2d {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        let row = self.rows.start.wrapping_add(self.row_round);
        let column = self.columns.start.wrapping_add(self.column_round);
        // Only the last round of rows may be partial.
        if self.row_round >= self.rows.end || row >= self.rows.end {
            return None;
        }
        self.column_round = self.column_round.wrapping_add(self.columns.stride);
        // The last column may be partial too; then the next position is in the next row.
        if self.column_round >= self.columns.end
            || self.columns.start.wrapping_add(self.column_round) >= self.columns.end
        {
            self.column_round = 0;
            self.row_round = self.row_round.wrapping_add(self.rows.stride);
        }
        Some((row, column))
    }
}
