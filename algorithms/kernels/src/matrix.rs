//! Transposes and products of matrices.

use core::{
    array,
    ops::{Add, Mul},
};

use gpu_std::{
    SharedElement,
    prelude::{
        memory::{UnsafeShared, UnsafeSlice},
        *,
    },
};

use crate::{BLOCK, Element};

/// The number of rows and columns of a tile.
pub(crate) const TILE: usize = 32;

/// Lines of 33 elements, so that threads that read a column access different banks.
const TILE_LEN: usize = TILE * (TILE + 1);

/// The lines of a tile that a block has threads for at once.
const LINES: usize = BLOCK / TILE;

/// Transposes tiles of matrices of `rows` times `columns` elements, which follow each other: those of a matrix for each block along z. Tiles from `first` on are along x
/// and y, across and down, or if `x_is_down`, down and across: a division of the number of a block would take longer than the rest.
///
/// # Safety
/// There are as many matrices as blocks along z, of which both slices have all elements, and the matrices have the tiles of all blocks.
#[kernel(block = 256)]
pub unsafe fn transpose<P: SharedElement>(
    from: &[P],
    rows: usize,
    columns: usize,
    first: [u32; 2],
    x_is_down: u32,
    to: UnsafeSlice<P>,
    tile: UnsafeShared<P, TILE_LEN>,
) {
    let Dim3 { x, y, .. } = block_index();
    // SAFETY: as the caller promises.
    unsafe { transpose_part(from, [rows, columns], [x, y], first, x_is_down, [1, 0], &to, &tile) };
}

/// Transposes tiles as [`transpose`], of elements of several parts. Along x there is a block for each part of each tile, so that blocks beside each other use
/// the same sectors of memory.
///
/// # Safety
/// As for [`transpose`], with `parts` times as many blocks along x.
#[kernel(block = 256)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn transpose_parts<P: SharedElement>(
    from: &[P],
    parts: u32,
    rows: usize,
    columns: usize,
    first: [u32; 2],
    x_is_down: u32,
    to: UnsafeSlice<P>,
    tile: UnsafeShared<P, TILE_LEN>,
) {
    let parts = parts.max(1);
    let Dim3 { x, y, .. } = block_index();
    let (x, part) = (x / parts, x % parts);
    // SAFETY: as the caller promises.
    unsafe { transpose_part(from, [rows, columns], [x, y], first, x_is_down, [parts, part], &to, &tile) };
}

/// Transposes a part of the elements of a tile.
///
/// # Safety
/// All threads of a block of 256 call it, and no other block for the same tile and part. Both slices have the elements of as many matrices as there are blocks along z,
/// and a matrix has the tile.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn transpose_part<P: SharedElement>(
    from: &[P],
    [rows, columns]: [usize; 2],
    [x, y]: [u32; 2],
    [first_x, first_y]: [u32; 2],
    x_is_down: u32,
    [parts, part]: [u32; 2],
    to: &UnsafeSlice<P>,
    tile: &UnsafeShared<P, TILE_LEN>,
) {
    let matrix = block_index().z;
    let (x, y) = (first_x.wrapping_add(x), first_y.wrapping_add(y));
    let (row, column) = if x_is_down == 0 { (y, x) } else { (x, y) };
    let (row, column) = (row as usize * TILE, column as usize * TILE);
    let (lane, line) = (thread_rank() as usize % TILE, thread_rank() as usize / TILE % LINES);
    let (parts, part) = (parts as usize, part as usize);
    let first = matrix as usize * rows * columns;
    // All loads before anything waits. What is outside is read as the last line or column, and not written.
    let own = (column + lane).min(columns.wrapping_sub(1));
    let elements: [P; TILE / LINES] = array::from_fn(|step| {
        let at = first + (row + line + step * LINES).min(rows.wrapping_sub(1)) * columns + own;
        // SAFETY: the position is inside of the matrix, which has elements, because it has tiles, and as many parts of each as the caller promises.
        unsafe { *from.get_unchecked(at * parts + part) }
    });
    for step in 0..TILE / LINES {
        // SAFETY: each thread writes its own, which others read behind the barrier.
        unsafe { tile.set((line + step * LINES) * (TILE + 1) + lane, elements[step]) };
    }
    sync(());
    for step in 0..TILE / LINES {
        let line = line + step * LINES;
        let at = (first + (column + line) * rows + row + lane) * parts + part;
        if column + line < columns && row + lane < rows {
            // SAFETY: written before the barrier; each part of an element of the result belongs to one thread of one block, and is inside as above.
            unsafe { to.set(at, tile.get(lane * (TILE + 1) + line)) };
        }
    }
}

/// Multiplies matrices, `[rows, inner]` times `[inner, columns]`, of which there are some that follow each other: an element of the results for each
/// thread.
#[kernel]
pub fn multiply_small<T: Element + Add<Output = T> + Mul<Output = T>>(
    a: &[T],
    b: &[T],
    rows: usize,
    inner: usize,
    columns: usize,
    c: PerThread<T>,
) {
    for (i, c) in c {
        let (line, column) = (i / columns.max(1), i % columns.max(1));
        let matrix = line / rows.max(1);
        let mut sum = T::zeroed();
        for j in 0..inner {
            if let (Some(a), Some(b)) =
                (a.get(line * inner + j), b.get((matrix * inner + j) * columns + column))
            {
                sum = sum + *a * *b;
            }
        }
        *c = sum;
    }
}

/// Multiplies matrices as [`multiply_small`]: a tile of a result for each block, of which each thread has four elements.
///
/// # Safety
/// There are as many elements as in that many matrices, and as many blocks as tiles of results.
#[kernel(block = 256)]
pub unsafe fn multiply<T: Element + Add<Output = T> + Mul<Output = T>>(
    a: &[T],
    b: &[T],
    rows: usize,
    inner: usize,
    columns: usize,
    c: UnsafeSlice<T>,
    of_a: UnsafeShared<T, 1024>,
    of_b: UnsafeShared<T, 1024>,
) {
    let (down, across) = (rows.div_ceil(TILE), columns.div_ceil(TILE));
    let of_matrix = (down * across).max(1);
    let (matrix, block) = (block_rank() / of_matrix, block_rank() % of_matrix);
    let (row, column) = (block / across.max(1) * TILE, block % across.max(1) * TILE);
    let (lane, line) = (thread_rank() as usize % TILE, thread_rank() as usize / TILE % LINES);
    let mut sums = [T::zeroed(); TILE / LINES];
    let mut step = 0;
    while step < inner {
        for part in 0..TILE / LINES {
            let line = line + part * LINES;
            let inside = |is: bool, x: &[T], at: usize| {
                if is { x.get(at).copied() } else { None }.unwrap_or(T::zeroed())
            };
            let x = inside(
                row + line < rows && step + lane < inner,
                a,
                (matrix * rows + row + line) * inner + step + lane,
            );
            let y = inside(
                step + line < inner && column + lane < columns,
                b,
                (matrix * inner + step + line) * columns + column + lane,
            );
            // SAFETY: each thread writes its own; others read them between the barriers.
            unsafe {
                of_a.set(line * TILE + lane, x);
                of_b.set(line * TILE + lane, y);
            }
        }
        sync(());
        for j in 0..TILE {
            // SAFETY: written before the barrier, as all below.
            let y = unsafe { of_b.get(j * TILE + lane) };
            for part in 0..TILE / LINES {
                // SAFETY: as above.
                sums[part] = sums[part] + unsafe { of_a.get((line + part * LINES) * TILE + j) } * y;
            }
        }
        sync(());
        step += TILE;
    }
    for part in 0..TILE / LINES {
        let line = row + line + part * LINES;
        let at = (matrix * rows + line) * columns + column + lane;
        if line < rows && column + lane < columns && at < c.len() {
            // SAFETY: each element of the result belongs to one thread of one block.
            unsafe { c.set(at, sums[part]) };
        }
    }
}
