//! A matrix in tiles that belong to blocks.

use core::{fmt, hint, iter::FusedIterator, marker::PhantomData};

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy, block_dim, block_index, grid_dim,
    param::{Param, WriteStart},
    signature::Text,
    thread::grid_stride::{Axis, GridStride2d},
    thread_index,
    view::layout::{self, PlaceLayout},
};

/// A matrix divided into tiles of `ROWS` × `COLUMNS` elements, each of which belongs to one block. The block's index in the
/// grid gives its first tile (x its column, y its row, counted in tiles); the others follow in steps of the grid's
/// dimensions.
///
/// All threads of a block visit the same tiles in the same order, so the loop over them may contain barriers. Within a tile,
/// the thread's index in the block gives its first element (x its column, y its row), as in a [`Shared2d`](crate::Shared2d)
/// array. Tiles at the right and lower edge may be smaller. A kernel that takes `BlockTiles2d` is launched along two axes
/// unless its contract says otherwise.
///
/// ```
/// use gpu_std::prelude::*;
///
/// const TILE: usize = 32;
///
/// #[kernel(block = (TILE as u32, 8))]
/// pub fn transpose(
///     from: View2d<f32>,
///     to: BlockTiles2d<f32, TILE, TILE>,
///     mut part: Shared2d<f32, TILE, TILE, 1>,
/// ) {
///     for mut tile in to {
///         let (first_row, first_column) = tile.first();
///         for ((row, column), element) in &mut part {
///             *element = from.get((first_column + row, first_row + column)).copied().unwrap_or(0.0);
///         }
///         let read = sync(part);
///         for ((row, column), element) in &mut tile {
///             *element = read[(column, row)];
///         }
///         part = sync(read);
///     }
/// }
/// ```
pub struct BlockTiles2d<'a, T, const ROWS: usize, const COLUMNS: usize> {
    start: *mut T,
    layout: layout::Layout2d,
    lender: PhantomData<&'a mut [T]>,
}

impl<'a, T, const ROWS: usize, const COLUMNS: usize> BlockTiles2d<'a, T, ROWS, COLUMNS> {
    /// Returns the number of rows of the matrix, those of other blocks included.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.layout.rows as usize
    }

    /// Returns the number of columns of the matrix, those of other blocks included.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.layout.columns as usize
    }

    /// Iterates over the tiles of this block. For more than one pass; a `for` loop over the value itself makes one pass.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> BlockTiles2dIter<'_, T, ROWS, COLUMNS> {
        BlockTiles2dIter {
            places: self.places(),
            start: self.start,
            layout: self.layout,
            lender: PhantomData,
        }
    }

    /// Returns the first tile of this block, if it has any. It is the only one if the grid has a block per tile.
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<BlockTile2d<'_, T, ROWS, COLUMNS>> {
        self.iter_mut().next()
    }

    /// Returns the tile at this block's index in the grid, which is its first one. It has no elements if the grid extends
    /// beyond the matrix. Costs no branch.
    ///
    /// It is the only tile of the block if the grid has a block per tile: `for_each_tile_2d((rows, columns), (ROWS, COLUMNS))` makes such a grid.
    /// With a smaller grid, loop over all tiles instead.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// #[kernel(block = (32, 8))]
    /// pub fn fill(value: f32, mut to: BlockTiles2d<f32, 32, 32>) {
    ///     for (_, element) in &mut to.at_block() {
    ///         *element = value;
    ///     }
    /// }
    /// ```
    #[inline(always)]
    pub fn at_block(&mut self) -> BlockTile2d<'_, T, ROWS, COLUMNS> {
        let (index, dim) = (block_index(), grid_dim());
        // Numbers of blocks and extents of tiles are below 2³² (`assemble`), so that the products are exact.
        let row = (index.y as usize + dim.y as usize * index.z as usize).wrapping_mul(ROWS);
        let column = (index.x as usize).wrapping_mul(COLUMNS);
        BlockTile2d::new(self.start, self.layout, (row, column))
    }

    /// The positions of this block's tiles, counted in tiles.
    #[inline(always)]
    fn places(&self) -> GridStride2d {
        let (index, dim) = (block_index(), grid_dim());
        GridStride2d::new(
            Axis {
                start: index.y as usize + dim.y as usize * index.z as usize,
                end: self.rows().div_ceil(ROWS),
                stride: dim.y as usize * dim.z as usize,
            },
            Axis { start: index.x as usize, end: self.columns().div_ceil(COLUMNS), stride: dim.x as usize },
        )
    }
}

impl<T, const ROWS: usize, const COLUMNS: usize> fmt::Debug for BlockTiles2d<'_, T, ROWS, COLUMNS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockTiles2d").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl<'a, T, const ROWS: usize, const COLUMNS: usize> IntoIterator for BlockTiles2d<'a, T, ROWS, COLUMNS> {
    type Item = BlockTile2d<'a, T, ROWS, COLUMNS>;
    type IntoIter = BlockTiles2dIter<'a, T, ROWS, COLUMNS>;

    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        BlockTiles2dIter {
            places: self.places(),
            start: self.start,
            layout: self.layout,
            lender: PhantomData,
        }
    }
}

impl<'a, T, const ROWS: usize, const COLUMNS: usize> IntoIterator
    for &'a mut BlockTiles2d<'_, T, ROWS, COLUMNS>
{
    type Item = BlockTile2d<'a, T, ROWS, COLUMNS>;
    type IntoIter = BlockTiles2dIter<'a, T, ROWS, COLUMNS>;

    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// The iterator of [`BlockTiles2d`].
pub struct BlockTiles2dIter<'a, T, const ROWS: usize, const COLUMNS: usize> {
    places: GridStride2d,
    start: *mut T,
    layout: layout::Layout2d,
    lender: PhantomData<&'a mut [T]>,
}

impl<T, const ROWS: usize, const COLUMNS: usize> fmt::Debug for BlockTiles2dIter<'_, T, ROWS, COLUMNS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockTiles2dIter").field("places", &self.places).finish_non_exhaustive()
    }
}

impl<'a, T, const ROWS: usize, const COLUMNS: usize> Iterator for BlockTiles2dIter<'a, T, ROWS, COLUMNS> {
    type Item = BlockTile2d<'a, T, ROWS, COLUMNS>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (row, column) = self.places.next()?;
        // SAFETY: a tile begins inside of the matrix, whose extents are numbers of 31 bits (`assemble`). Where a tile has more rows or columns than
        // that, its index is 0.
        let along = |index: usize, extent: usize| unsafe {
            let first = (index as u32).unchecked_mul(extent as u32);
            hint::assert_unchecked(first <= i32::MAX as u32);
            first as usize
        };
        let first = (along(row, ROWS), along(column, COLUMNS));
        Some(BlockTile2d::new(self.start, self.layout, first))
    }
}

impl<T, const ROWS: usize, const COLUMNS: usize> FusedIterator for BlockTiles2dIter<'_, T, ROWS, COLUMNS> {}

/// A tile of [`BlockTiles2d`], of at most `ROWS` × `COLUMNS` elements. The calling thread accesses those that it owns.
pub struct BlockTile2d<'a, T, const ROWS: usize, const COLUMNS: usize> {
    place: TilePlace<T>,
    lender: PhantomData<&'a mut [T]>,
}

/// The position of a tile in its matrix.
struct TilePlace<T> {
    /// Of the matrix.
    start: *mut T,
    layout: layout::Layout2d,
    first: (usize, usize),
}

impl<T> Clone for TilePlace<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TilePlace<T> {}

impl<T> TilePlace<T> {
    /// The element at `start + round` in the tile, if that is inside of the matrix. The sum is computed in this order, so
    /// that rounds are offsets from one address.
    #[inline(always)]
    fn element(&self, start: (usize, usize), round: (usize, usize)) -> Option<*mut T> {
        // Exact: a tile begins below (2³² - 1)², and the other two are below 2³² + 1024 together.
        let place = (
            self.first.0.wrapping_add(start.0).wrapping_add(round.0),
            self.first.1.wrapping_add(start.1).wrapping_add(round.1),
        );
        // SAFETY: the place is inside, so its offset is below the length of the memory. Were the offset one that may wrap, LLVM would
        // ask in each round whether the address is null, which is `None`.
        self.layout.holds(place).then(|| unsafe {
            let offset = place.0.unchecked_mul(self.layout.pitch as usize).unchecked_add(place.1);
            self.start.add(offset)
        })
    }
}

impl<T, const ROWS: usize, const COLUMNS: usize> BlockTile2d<'_, T, ROWS, COLUMNS> {
    #[inline(always)]
    fn new(start: *mut T, layout: layout::Layout2d, first: (usize, usize)) -> Self {
        Self { place: TilePlace { start, layout, first }, lender: PhantomData }
    }

    /// Returns the position `(row, column)` of the tile's first element in the matrix.
    #[inline(always)]
    pub fn first(&self) -> (usize, usize) {
        self.place.first
    }

    /// Returns the number of rows in the tile: `ROWS`, or less at the lower edge of the matrix.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        (self.place.layout.rows as usize).saturating_sub(self.place.first.0).min(ROWS)
    }

    /// Returns the number of columns in the tile: `COLUMNS`, or less at the right edge of the matrix.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        (self.place.layout.columns as usize).saturating_sub(self.place.first.1).min(COLUMNS)
    }

    /// Iterates over the elements of this thread, with their positions `(row, column)` in the tile.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> BlockTile2dIter<'_, T, ROWS, COLUMNS> {
        BlockTile2dIter { row_round: 0, column_round: 0, place: self.place, lender: PhantomData }
    }

    /// Returns the first element of this thread with its position in the tile, if it has any. It is the only one if the block
    /// is as large as the tile.
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<((usize, usize), &mut T)> {
        self.iter_mut().next()
    }

    /// Returns the element at this position in the tile, if it belongs to this thread. Costs divisions; a loop costs none.
    #[inline(always)]
    pub fn get_mut(&mut self, (row, column): (usize, usize)) -> Option<&mut T> {
        let (rows, columns) = axes();
        let inside = row < self.rows() && column < self.columns();
        let mine = inside && row % rows.stride == rows.start && column % columns.stride == columns.start;
        let element = if mine { self.place.element((row, column), (0, 0))? } else { return None };
        // SAFETY: the element is inside, this thread's, and borrowed from `self` exclusively.
        Some(unsafe { &mut *element })
    }
}

impl<T, const ROWS: usize, const COLUMNS: usize> fmt::Debug for BlockTile2d<'_, T, ROWS, COLUMNS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockTile2d")
            .field("first", &self.first())
            .field("rows", &self.rows())
            .field("columns", &self.columns())
            .finish_non_exhaustive()
    }
}

impl<'a, T, const ROWS: usize, const COLUMNS: usize> IntoIterator
    for &'a mut BlockTile2d<'_, T, ROWS, COLUMNS>
{
    type Item = ((usize, usize), &'a mut T);
    type IntoIter = BlockTile2dIter<'a, T, ROWS, COLUMNS>;

    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// The thread's first row and column in a tile and its steps, by its index in the block; the ends are not set.
#[inline(always)]
fn axes() -> (Axis, Axis) {
    let (index, dim) = (thread_index(), block_dim());
    let row = index.y.wrapping_add(dim.y.wrapping_mul(index.z));
    let rows = Axis { start: row as usize, end: 0, stride: dim.y.wrapping_mul(dim.z) as usize };
    (rows, Axis { start: index.x as usize, end: 0, stride: dim.x as usize })
}

/// The iterator of [`BlockTile2d::iter_mut`].
pub struct BlockTile2dIter<'a, T, const ROWS: usize, const COLUMNS: usize> {
    /// Count from 0, the same for all threads: where the contract fixes the block, the number of rounds is a constant.
    row_round: usize,
    column_round: usize,
    place: TilePlace<T>,
    lender: PhantomData<&'a mut [T]>,
}

impl<T, const ROWS: usize, const COLUMNS: usize> fmt::Debug for BlockTile2dIter<'_, T, ROWS, COLUMNS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockTile2dIter")
            .field("row_round", &self.row_round)
            .field("column_round", &self.column_round)
            .finish_non_exhaustive()
    }
}

impl<'a, T, const ROWS: usize, const COLUMNS: usize> Iterator for BlockTile2dIter<'a, T, ROWS, COLUMNS> {
    type Item = ((usize, usize), &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (rows, columns) = axes();
        // Rounds outside of the matrix are run too, so that the number of rounds stays a constant and the loop unrolls.
        while self.row_round < ROWS {
            let (start, round) = ((rows.start, columns.start), (self.row_round, self.column_round));
            let (row, column) = (start.0.wrapping_add(round.0), start.1.wrapping_add(round.1));
            self.column_round = self.column_round.saturating_add(columns.stride);
            if self.column_round >= COLUMNS {
                self.column_round = 0;
                self.row_round = self.row_round.saturating_add(rows.stride);
            }
            if row < ROWS
                && column < COLUMNS
                && let Some(element) = self.place.element(start, round)
            {
                // SAFETY: the place is inside. Places of one loop come once, those of other threads differ, those of other blocks
                // are in other tiles, and there is one loop at a time because the tile is borrowed: no other reference to
                // this element exists.
                return Some(((row, column), unsafe { &mut *element }));
            }
            // Of a tile of one row, all that follow are outside too: a loop that skips none is as fast as one over columns.
            if ROWS == 1 {
                break;
            }
        }
        None
    }
}

impl<T, const ROWS: usize, const COLUMNS: usize> FusedIterator for BlockTile2dIter<'_, T, ROWS, COLUMNS> {}

// SAFETY: `pack` takes rows that the runtime borrows exclusively for the launch, tiles of one block are not those of another, and
// each thread uses only its own elements of them.
unsafe impl<'k, T: DeviceCopy, const ROWS: usize, const COLUMNS: usize> Param<'k>
    for BlockTiles2d<'k, T, ROWS, COLUMNS>
{
    type Head = WriteStart<'k, T>;
    type Tail = layout::Layout2d;

    const DIMS: u32 = 2;
    const SIGNATURE: Text =
        Text::Of("BlockTiles2d", &[T::TYPE, Text::Number(ROWS as i128), Text::Number(COLUMNS as i128)]);

    #[inline(always)]
    unsafe fn assemble(head: WriteStart<'k, T>, layout: &'k layout::Layout2d) -> Self {
        // Every `BlockTiles2d` is made here, so that its methods need no check.
        const {
            assert!(ROWS > 0 && COLUMNS > 0, "a tile has at least one element");
            assert!(
                ROWS <= u32::MAX as usize && COLUMNS <= u32::MAX as usize,
                "a tile has less than 2^32 rows and columns"
            );
        }
        // SAFETY: by the caller's promise the host passed the layout.
        let layout = unsafe { layout.assume_checked() };
        Self { start: head.as_mut_ptr(), layout, lender: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = R::ViewMut<'k, T, layout::Layout2d>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        let view = R::raw_view_mut(&arg);
        args.push_memory(view.slice, Access::Write);
        args.push(view.layout);
    }
}
