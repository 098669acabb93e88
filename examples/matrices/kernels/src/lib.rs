//! Transposes, products, extremes and normalised rows of matrices, some written in the obvious way and with shared memory.
#![no_std]
#![forbid(unsafe_code)]

use gpu_std::{gufunc::*, prelude::*};

/// Rows and columns of a tile that a block transposes.
pub const TILE: usize = 32;
/// Rows of threads of a block, each of which has four elements of a tile.
pub const ROWS: usize = 8;
/// Rows and columns of a tile of a product, one element for each thread of a block.
pub const SIDE: usize = 16;

/// The transpose, element by element: neighbouring threads read elements of different rows, which are far apart.
#[kernel(block = (TILE as u32, ROWS as u32), requires = from.rows() == to.columns() && from.columns() == to.rows())]
pub fn transpose(from: View2d<i32>, to: BlockTiles2d<i32, TILE, TILE>) {
    for mut tile in to {
        let (row, column) = tile.first();
        for ((i, j), to) in &mut tile {
            *to = from[(column + j, row + i)];
        }
    }
}

/// The transpose by tiles in shared memory, so that neighbouring threads read and write neighbouring elements. A column of padding keeps the
/// elements of a column in different banks.
#[kernel(block = (TILE as u32, ROWS as u32), requires = from.rows() == to.columns() && from.columns() == to.rows())]
pub fn transpose_tiled<const PAD: usize>(
    from: View2d<i32>,
    to: BlockTiles2d<i32, TILE, TILE>,
    mut part: Shared2d<i32, TILE, TILE, PAD>,
) {
    for mut tile in to {
        let (row, column) = tile.first();
        for ((i, j), part) in &mut part {
            *part = from.get((column + i, row + j)).copied().unwrap_or(0);
        }
        let read = sync(part);
        for ((i, j), to) in &mut tile {
            *to = read[(j, i)];
        }
        part = sync(read);
    }
}

instantiate!(transpose_tiled::<0>);
instantiate!(transpose_tiled::<1>);

/// A product of matrices: each thread reads a row and a column from global memory.
#[kernel(requires = a.columns() == b.rows() && c.rows() == a.rows() && c.columns() == b.columns())]
pub fn product(a: View2d<f32>, b: View2d<f32>, c: PerThread2d<f32>) {
    for ((row, column), c) in c {
        *c = (0..a.columns()).map(|k| a[(row, k)] * b[(k, column)]).sum();
    }
}

/// A product of matrices by tiles in shared memory, each element of which is read from global memory by one thread and used by [`SIDE`].
#[kernel(
    block = (SIDE as u32, SIDE as u32),
    requires = a.columns() == b.rows() && c.rows() == a.rows() && c.columns() == b.columns()
)]
pub fn product_tiled(
    a: View2d<f32>,
    b: View2d<f32>,
    c: BlockTiles2d<f32, SIDE, SIDE>,
    mut a_part: Shared2d<f32, SIDE, SIDE>,
    mut b_part: Shared2d<f32, SIDE, SIDE>,
) {
    let (i, j) = (thread_index().y as usize, thread_index().x as usize);
    for mut tile in c {
        let (row, column) = tile.first();
        let mut sum = 0.0;
        for first in (0..a.columns()).step_by(SIDE) {
            for ((i, j), a_part) in &mut a_part {
                *a_part = a.get((row + i, first + j)).copied().unwrap_or(0.0);
            }
            for ((i, j), b_part) in &mut b_part {
                *b_part = b.get((first + i, column + j)).copied().unwrap_or(0.0);
            }
            let (a_read, b_read) = sync((a_part, b_part));
            for k in 0..SIDE {
                sum += a_read[(i, k)] * b_read[(k, j)];
            }
            (a_part, b_part) = sync((a_read, b_read));
        }
        if let Some(c) = tile.get_mut((i, j)) {
            *c = sum;
        }
    }
}

/// A product of small matrices, as a function of arrays of them.
#[guvectorize("(m,n),(n,p)->(m,p)")]
pub fn matmul(a: CoreView<f32, 2>, b: CoreView<f32, 2>, mut c: CoreViewMut<f32, 2>) {
    for row in 0..a.rows() {
        for column in 0..b.columns() {
            c[(row, column)] = (0..a.columns()).map(|k| a[(row, k)] * b[(k, column)]).sum();
        }
    }
}

/// The largest and the smallest number of a row, which is not empty. What is not a number counts as none.
#[guvectorize("(n)->(),()")]
pub fn max_min(row: CoreView<f64, 1>) -> (f64, f64) {
    row.iter().fold((row[0], row[0]), |(max, min), x| (x.max(max), x.min(min)))
}

/// The sum of two numbers, as a reduction of arrays.
#[reduction(identity = 0.0)]
pub fn sum(a: f64, b: f64) -> f64 {
    a + b
}

/// Divides each row by its mean.
#[kernel]
pub fn normalise(rows: PerThread<[f32; 3]>) {
    for (_, row) in rows {
        let mean = row.iter().sum::<f32>() / 3.0;
        for element in row {
            *element /= mean;
        }
    }
}
