//! Products of dense matrices, and the transpose.

use gpu_std::prelude::*;

/// Rows and columns of a tile in shared memory.
pub const TILE: usize = 32;

/// Defines a product of matrices, with these operations in place of `+` and `*`.
macro_rules! products {
    ($($(#[$doc:meta])* $name:ident: from $start:expr, |$sum:ident, $a:ident, $b:ident| $next:expr;)*) => {$(
        $(#[$doc])*
        #[kernel(block = (32, 32))]
        pub fn $name(
            a: View2d<f32>,
            b: View2d<f32>,
            c: PerThread2d<f32>,
            mut a_tile: Shared2d<f32, TILE, TILE>,
            mut b_tile: Shared2d<f32, TILE, TILE>,
        ) {
            let (block, thread) = (block_index(), thread_index());
            let (row, column) = (block.y as usize * TILE, block.x as usize * TILE);
            let (i, j) = (thread.y as usize, thread.x as usize);
            let mut $sum: f32 = $start;
            for first in (0..a.columns()).step_by(TILE) {
                for ((i, j), to) in &mut a_tile {
                    *to = a.get((row + i, first + j)).copied().unwrap_or($start);
                }
                for ((i, j), to) in &mut b_tile {
                    *to = b.get((first + i, column + j)).copied().unwrap_or($start);
                }
                let (a_read, b_read) = sync((a_tile, b_tile));
                for k in 0..TILE {
                    let ($a, $b) = (a_read[(i, k)], b_read[(k, j)]);
                    $sum = $next;
                }
                (a_tile, b_tile) = sync((a_read, b_read));
            }
            for (_, c) in c {
                *c = $sum;
            }
        }
    )*};
}

products! {
    /// `C = A B`.
    product: from 0.0, |sum, a, b| sum + a * b;
    /// The product of distances: the shortest way of two steps.
    min_plus: from f32::INFINITY, |sum, a, b| sum.min(a + b);
}

/// Rows and columns of `C` for a block of [`sgemm`], which fetches as many columns of `A` at once as [`DEPTH`].
pub const BLOCK: usize = 128;
/// Columns of `A`, and rows of `B`, in shared memory.
pub const DEPTH: usize = 8;
/// Threads of a block along an axis, each of which has 8 × 8 elements, this far from one another.
pub const SIDE: usize = 16;
const EACH: usize = BLOCK / SIDE;

/// `C = A B`, with 8 × 8 sums in the registers of each thread.
#[kernel(block = (SIDE as u32, SIDE as u32))]
pub fn sgemm(
    a: View2d<f32>,
    b: View2d<f32>,
    c: BlockTiles2d<f32, BLOCK, BLOCK>,
    mut a_tile: Shared<f32, { BLOCK * DEPTH }>,
    mut b_tile: Shared<f32, { DEPTH * BLOCK }>,
) {
    let thread = thread_index();
    let (y, x) = (thread.y as usize, thread.x as usize);
    for mut tile in c {
        let (row, column) = tile.first();
        let mut sums = [[0.0; EACH]; EACH];
        for first in (0..a.columns()).step_by(DEPTH) {
            for (n, to) in &mut a_tile {
                *to = a.get((row + n / DEPTH, first + n % DEPTH)).copied().unwrap_or(0.0);
            }
            for (n, to) in &mut b_tile {
                *to = b.get((first + n / BLOCK, column + n % BLOCK)).copied().unwrap_or(0.0);
            }
            let (a_read, b_read) = sync((a_tile, b_tile));
            for k in 0..DEPTH {
                let a: [f32; EACH] = core::array::from_fn(|i| a_read[(y + i * SIDE) * DEPTH + k]);
                let b: [f32; EACH] = core::array::from_fn(|j| b_read[k * BLOCK + x + j * SIDE]);
                for (sums, a) in sums.iter_mut().zip(a) {
                    for (sum, b) in sums.iter_mut().zip(b) {
                        *sum += a * b;
                    }
                }
            }
            (a_tile, b_tile) = sync((a_read, b_read));
        }
        for (i, sums) in sums.iter().enumerate() {
            for (j, sum) in sums.iter().enumerate() {
                if let Some(c) = tile.get_mut((y + i * SIDE, x + j * SIDE)) {
                    *c = *sum;
                }
            }
        }
    }
}

/// Rows of a block of [`transpose`], which handles as many columns as [`TILE`].
pub const STEP: usize = 8;

/// The transpose, in tiles with a column of padding.
#[kernel(block = (TILE as u32, STEP as u32))]
pub fn transpose(
    from: View2d<f32>,
    to: BlockTiles2d<f32, TILE, TILE>,
    mut part: Shared2d<f32, TILE, TILE, 1>,
) {
    for mut tile in to {
        let (row, column) = tile.first();
        for ((i, j), part) in &mut part {
            *part = from.get((column + i, row + j)).copied().unwrap_or(0.0);
        }
        let read = sync(part);
        for ((i, j), to) in &mut tile {
            *to = read[(j, i)];
        }
        part = sync(read);
    }
}
