//! Transposes and products of matrices.

use core::{
    array,
    hint::assert_unchecked,
    ops::{Add, Mul},
};

use gpu_std::{
    SharedElement, load_here,
    prelude::{
        memory::{UnsafeShared, UnsafeSlice},
        *,
    },
};

use crate::{BLOCK, Element};

/// The rows and columns of the tiles in which elements are transposed: as many as there are registers for.
pub(crate) const fn transposed_tile<P>() -> usize {
    if size_of::<P>() <= 4 { 64 } else { 32 }
}

/// The elements of a line of such a tile: some more, a bank's at least, so that threads that read a column access different banks.
const fn transposed_line<P>() -> usize {
    let of_bank = match size_of::<P>() {
        0 => 1,
        size => 4_usize.div_ceil(size),
    };
    transposed_tile::<P>() + of_bank
}

/// The elements of such a tile.
pub(crate) const fn transposed_len<P>() -> usize {
    transposed_tile::<P>() * transposed_line::<P>()
}

/// How many of them each thread has.
pub(crate) const fn of_thread<P>() -> usize {
    transposed_tile::<P>() * transposed_tile::<P>() / BLOCK
}

/// Transposes tiles of matrices of `rows` times `columns` elements, which follow each other: those of a matrix for each block along z. Tiles from `first` on are along x
/// and y, across and down, or if `x_is_down`, down and across: a division of the number of a block would take longer than the rest.
///
/// # Safety
/// There are as many matrices as blocks along z, of which both slices have all elements, and the matrices have the tiles of all blocks. A tile has `LEN` elements, and each
/// thread `EACH`.
#[kernel(block = 256)]
pub unsafe fn transpose<P: SharedElement, const LEN: usize, const EACH: usize>(
    from: &[P],
    rows: usize,
    columns: usize,
    first: [u32; 2],
    x_is_down: u32,
    to: UnsafeSlice<P>,
    tile: UnsafeShared<P, LEN>,
) {
    let Dim3 { x, y, .. } = block_index();
    // SAFETY: as the caller promises.
    unsafe {
        transpose_part::<_, _, EACH>(from, [rows, columns], [x, y], first, x_is_down, [1, 0], &to, &tile)
    };
}

/// Transposes tiles as [`transpose`], of elements of several parts. Along x there is a block for each part of each tile, so that blocks beside each other use
/// the same sectors of memory.
///
/// # Safety
/// As for [`transpose`], with `parts` times as many blocks along x.
#[kernel(block = 256)]
#[allow(clippy::too_many_arguments)]
pub unsafe fn transpose_parts<P: SharedElement, const LEN: usize, const EACH: usize>(
    from: &[P],
    parts: u32,
    rows: usize,
    columns: usize,
    first: [u32; 2],
    x_is_down: u32,
    to: UnsafeSlice<P>,
    tile: UnsafeShared<P, LEN>,
) {
    let parts = parts.max(1);
    let Dim3 { x, y, .. } = block_index();
    let (x, part) = (x / parts, x % parts);
    // SAFETY: as the caller promises.
    unsafe {
        transpose_part::<_, _, EACH>(
            from,
            [rows, columns],
            [x, y],
            first,
            x_is_down,
            [parts, part],
            &to,
            &tile,
        )
    };
}

/// Transposes a part of the elements of a tile.
///
/// # Safety
/// All threads of a block of 256 call it, and no other block for the same tile and part. Both slices have the elements of as many matrices as there are blocks along z,
/// and a matrix has the tile.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn transpose_part<P: SharedElement, const LEN: usize, const EACH: usize>(
    from: &[P],
    [rows, columns]: [usize; 2],
    [x, y]: [u32; 2],
    [first_x, first_y]: [u32; 2],
    x_is_down: u32,
    [parts, part]: [u32; 2],
    to: &UnsafeSlice<P>,
    tile: &UnsafeShared<P, LEN>,
) {
    let (side, threads) = (transposed_tile::<P>() as u32, BLOCK as u32);
    let (x, y) = (first_x.wrapping_add(x), first_y.wrapping_add(y));
    let (row, column) = if x_is_down == 0 { (y, x) } else { (x, y) };
    let (row, column) = (row as usize * side as usize, column as usize * side as usize);
    // The last row and column of the tile that the matrix has.
    let last = |extent: usize, first: usize| extent.wrapping_sub(first + 1).min(side as usize - 1) as u32;
    let (last_row, last_column) = (last(rows, row), last(columns, column));
    let is_whole = last_row.min(last_column) == side - 1;
    let first = block_index().z as usize * rows * columns;
    let (parts, part) = (parts as usize, part as usize);
    // A line of the tile for each group of threads, and so many lines further on in each step.
    let (lane, line) = (thread_rank() % side, thread_rank() / side % (threads / side));
    let line_of = |step: usize| line + step as u32 * (threads / side);
    let len_of_line = transposed_line::<P>() as u32;
    // All loads before anything waits. Of what is outside, lines are not read, and columns as the last one; it is not written.
    let start = first + row * columns + column;
    let load = |line: u32, lane: u32| {
        let at = start + line as usize * columns + lane as usize;
        // SAFETY: the position is inside of the matrix, which has elements, because it has tiles, and as many parts of each as the caller promises.
        unsafe { load_here(from.as_ptr().add(at * parts + part)) }
    };
    let elements: [P; EACH] = match is_whole {
        true => array::from_fn(|step| load(line_of(step), lane)),
        false => array::from_fn(|step| match line_of(step) <= last_row {
            true => load(line_of(step), lane.min(last_column)),
            false => P::zeroed(),
        }),
    };
    for step in 0..EACH {
        // SAFETY: each thread writes its own, which others read behind the barrier.
        unsafe { tile.set((line_of(step) * len_of_line + lane) as usize, elements[step]) };
    }
    sync(());
    let start = first + column * rows + row;
    let store = |line: u32| {
        let at = (start + line as usize * rows + lane as usize) * parts + part;
        // SAFETY: written before the barrier; each part of an element of the result belongs to one thread of one block, and is inside as above.
        unsafe {
            assert_unchecked(at < to.len());
            to.set(at, tile.get((lane * len_of_line + line) as usize));
        }
    };
    if is_whole {
        for step in 0..EACH {
            store(line_of(step));
        }
    } else if lane <= last_row {
        for step in 0..EACH {
            if line_of(step) <= last_column {
                store(line_of(step));
            }
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

/// The columns of `a` and rows of `b` that a block has in shared memory at once.
const DEPTH: usize = 16;

/// The threads of a block that multiplies, down its tile.
const DOWN: usize = 8;

/// So many elements of a column of `a` are beside each other in shared memory, so that a thread loads them at once.
const VECTOR: usize = 4;

/// How a block multiplies: a square tile of a result, of which each thread has some rows and columns. The more they are, the more often each element in shared memory is
/// used, and the fewer tiles there are.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ProductShape {
    pub rows: usize,
    pub columns: usize,
    /// The threads across.
    pub across: usize,
}

impl ProductShape {
    /// Those that there are kernels for.
    pub const ALL: [Self; 3] = [
        Self { rows: 2, columns: 2, across: 8 },
        Self { rows: 4, columns: 4, across: 8 },
        Self { rows: 8, columns: 4, across: 16 },
    ];

    /// The rows and columns of a tile.
    pub const fn tile(self) -> usize {
        assert!(DOWN * self.rows == self.across * self.columns);
        DOWN * self.rows
    }

    pub const fn threads(self) -> usize {
        DOWN * self.across
    }

    /// How many elements of either matrix a thread loads at once.
    pub const fn loads(self) -> usize {
        self.tile() * DEPTH / self.threads()
    }

    /// The elements of the columns of `a`. Between those of two there are some that are not used: fewer threads that write columns beside each other use the same banks, and
    /// vectors stay aligned.
    pub const fn of_a(self) -> usize {
        DEPTH * (self.tile() + VECTOR)
    }

    /// The elements of the rows of `b`.
    pub const fn of_b(self) -> usize {
        DEPTH * self.tile()
    }

    /// Whether there is room for what a thread and a block have of elements of so many bytes: in registers, and in the shared memory that every GPU has.
    pub const fn has_room(self, element: usize) -> bool {
        const REGISTERS: usize = 256;
        const SHARED: usize = 48 << 10;
        self.rows * self.columns * element <= REGISTERS && (self.of_a() + self.of_b()) * element <= SHARED
    }
}

/// Multiplies matrices as [`multiply_small`]: a tile of a result for each block, of a [`ProductShape`].
///
/// # Safety
/// There are as many elements as in that many matrices, and as many blocks as tiles of results. Constants are those of a [`ProductShape`], and extents below 2³¹.
#[kernel(block = (DOWN * ACROSS) as u32)]
pub unsafe fn multiply<
    T: Element + Add<Output = T> + Mul<Output = T>,
    const ROWS: usize,
    const COLUMNS: usize,
    const ACROSS: usize,
    const LOADS: usize,
    const OF_A: usize,
    const OF_B: usize,
>(
    a: &[T],
    b: &[T],
    rows: u32,
    inner: u32,
    columns: u32,
    c: UnsafeSlice<T>,
    of_a: UnsafeShared<T, OF_A>,
    of_b: UnsafeShared<T, OF_B>,
) {
    let (tile, threads) = ((DOWN * ROWS) as u32, (DOWN * ACROSS) as u32);
    let across = columns.div_ceil(tile);
    let of_matrix = rows.div_ceil(tile) * across;
    // A grid has fewer than 2³² blocks.
    let block = block_rank() as u32;
    let (matrix, block) = (block / of_matrix.max(1), block % of_matrix.max(1));
    let (row, column) = (block / across.max(1) * tile, block % across.max(1) * tile);
    let thread = thread_rank() % threads;
    let (x, y) = (thread % ACROSS as u32, thread / ACROSS as u32);
    // Rows of a thread are vectors; columns of threads beside each other are beside each other, so that these read different banks, and write whole sectors.
    let vector = if ROWS < VECTOR { ROWS } else { VECTOR };
    let own_row = |i: usize| (i / vector * DOWN * vector + i % vector) as u32 + y * vector as u32;
    let own_column = |j: usize| x + (j * ACROSS) as u32;
    let of_column = tile + VECTOR as u32;
    // The last row and column of the tile that the matrices have.
    let last_row = rows.wrapping_sub(row + 1).min(tile - 1);
    let last_column = columns.wrapping_sub(column + 1).min(tile - 1);
    let at = |row: usize, columns: u32, column: u32| row * columns as usize + column as usize;
    let first_row = matrix as usize * rows as usize + row as usize;
    let (first_of_a, first_of_b) =
        (at(first_row, inner, 0), at(matrix as usize * inner as usize, columns, column));
    let mut sums = [[T::zeroed(); COLUMNS]; ROWS];
    let mut step = 0;
    while step < inner {
        let depth = (inner - step).min(DEPTH as u32);
        // Threads beside each other load elements beside each other, all before anything waits. What is outside is loaded as the last row or column, and not used.
        let element = |i: usize| thread + i as u32 * threads;
        let left: [T; LOADS] = array::from_fn(|i| {
            let (row, k) = (element(i) / DEPTH as u32, element(i) % DEPTH as u32);
            let place = at(row.min(last_row) as usize, inner, step + k.min(depth - 1));
            // SAFETY: the matrices have the element, as the caller promises.
            unsafe { load_here(a.as_ptr().add(first_of_a + place)) }
        });
        let right: [T; LOADS] = array::from_fn(|i| {
            let (k, column) = (element(i) / tile, element(i) % tile);
            let place = at((step + k.min(depth - 1)) as usize, columns, column.min(last_column));
            // SAFETY: as above.
            unsafe { load_here(b.as_ptr().add(first_of_b + place)) }
        });
        // All have read what is in shared memory.
        sync(());
        for i in 0..LOADS {
            let (row, k) = (element(i) / DEPTH as u32, element(i) % DEPTH as u32);
            // SAFETY: each thread writes its own; others read them between the barriers.
            unsafe {
                of_a.set((k * of_column + row) as usize, left[i]);
                of_b.set(element(i) as usize, right[i]);
            }
        }
        sync(());
        for k in 0..depth {
            // SAFETY: written before the barrier.
            let left: [T; ROWS] =
                array::from_fn(|i| unsafe { of_a.get((k * of_column + own_row(i)) as usize) });
            // SAFETY: as above.
            let right: [T; COLUMNS] =
                array::from_fn(|j| unsafe { of_b.get((k * tile + own_column(j)) as usize) });
            for i in 0..ROWS {
                for j in 0..COLUMNS {
                    sums[i][j] = sums[i][j] + left[i] * right[j];
                }
            }
        }
        step += DEPTH as u32;
    }
    for i in 0..ROWS {
        for j in 0..COLUMNS {
            let (line, lane) = (own_row(i), own_column(j));
            if line <= last_row && lane <= last_column {
                let place = at(first_row + line as usize, columns, column + lane);
                // SAFETY: the results have the element, which belongs to one thread of one block.
                unsafe {
                    assert_unchecked(place < c.len());
                    c.set(place, sums[i][j]);
                }
            }
        }
    }
}
