//! Sweeps of the Jacobi method over some rows of a grid: each cell becomes the mean of its neighbours.
#![no_std]
#![forbid(unsafe_code)]

use gpu_std::prelude::*;

/// The mean of the neighbours of a cell; the first and the last column stay as they are.
pub fn relaxed(above: f32, row: &[f32], below: f32, column: usize) -> f32 {
    if column == 0 || column + 1 == row.len() {
        return row[column];
    }
    ((above + below) + (row[column - 1] + row[column + 1])) * 0.25
}

/// The rows between the first and the last, which need no other process's.
#[kernel]
pub fn inside(rows: View2d<f32>, next: PerThread2d<f32>) {
    for ((row, column), cell) in next {
        // `next` begins with the second row.
        if let Some(this) = rows.row(row + 1) {
            *cell = relaxed(rows[(row, column)], this, rows[(row + 2, column)], column);
        }
    }
}

/// The first or the last row, with its neighbours, one of which is of another process.
#[kernel]
pub fn edge(above: &[f32], row: &[f32], below: &[f32], next: PerThread<f32>) {
    for (column, cell) in next {
        *cell = relaxed(above[column], row, below[column], column);
    }
}

/// The largest change of a cell, as the bits of a number that is not negative: they are in its order.
#[kernel]
pub fn change(before: &[f32], after: &[f32], largest: &[Atomic<u32>]) {
    for i in grid_stride(before.len()) {
        largest[0].fetch_max((after[i] - before[i]).abs().to_bits());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_become_the_mean_of_their_neighbours() {
        assert_eq!(relaxed(1.0, &[2.0, 9.0, 4.0], 5.0, 1), 3.0);
        assert_eq!(relaxed(1.0, &[2.0, 9.0, 4.0], 5.0, 0), 2.0);
        assert_eq!(relaxed(1.0, &[2.0], 5.0, 0), 2.0);
    }
}
