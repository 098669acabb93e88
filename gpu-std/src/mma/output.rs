//! The output of matrix instructions: a matrix of which each warp owns a tile, distributed over its lanes like accumulators.

use core::{fmt, marker::PhantomData};

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy, block_dim, block_index,
    mma::{Accumulator, MmaAccumulator, accumulator::place_in_c, fragment::group_and_place},
    param::{Param, WriteStart},
    signature::Text,
    thread_index, unroll,
    view::layout::{self, PlaceLayout},
};

/// A matrix divided into tiles of `ROWS` × `COLUMNS` elements, one per warp, to which [`Accumulator`]s are stored.
///
/// The launch passes `buffer.view_2d_mut(columns)?`, or a part of it. Blocks have the dimensions `(32, across, down)`:
/// `across` warps for tiles that are adjacent in a row, `down` for tiles that are adjacent in a column. The block's index in
/// the grid counts such groups of tiles: x along the rows, y down the columns. Tiles at the right and lower edge may be
/// smaller: elements outside are not written.
///
/// `for_each` counts threads, not tiles, so the launch takes an exact configuration: for blocks of `(32, across, down)`
/// threads `LaunchConfig::new((columns.div_ceil(across * COLUMNS), rows.div_ceil(down * ROWS)), (32, across, down))`. A
/// launch with `for_each` is an error.
///
/// An element of a tile belongs to the lane whose accumulators can hold it, which is the same lane wherever they are stored.
pub struct MmaOutput<'a, T, const ROWS: usize, const COLUMNS: usize> {
    start: *mut T,
    layout: layout::Layout2d,
    lender: PhantomData<&'a mut [T]>,
}

impl<T: MmaAccumulator, const ROWS: usize, const COLUMNS: usize> MmaOutput<'_, T, ROWS, COLUMNS> {
    /// Returns the number of rows of the matrix, those of other warps included.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.layout.rows as usize
    }

    /// Returns the number of columns of the matrix, those of other warps included.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.layout.columns as usize
    }

    /// Returns the row and column of the first element of this warp's tile, which may be outside of the matrix.
    ///
    /// # Panics
    /// If blocks do not have 32 threads along x.
    #[inline(always)]
    #[track_caller]
    pub fn first(&self) -> (usize, usize) {
        let (index, block, dim) = (thread_index(), block_index(), block_dim());
        if dim.x != 32 {
            not_32(dim.x);
        }
        // There are less than 2³³ tiles down and 2⁴¹ across, of less than 2¹⁵ rows and columns (`assemble`): nothing
        // overflows.
        // Blocks with another z have tiles that are outside of every matrix.
        let row = if block.z == 0 { block.y as usize * dim.z as usize + index.z as usize } else { 1 << 32 };
        let column = block.x as usize * dim.y as usize + index.y as usize;
        (row * ROWS, column * COLUMNS)
    }

    /// Stores accumulators to a part of the tile (`wmma::store_matrix_sync`); elements outside of the matrix are not written.
    /// `part` is the row and column of the part's first element, relative to the tile.
    ///
    /// # Panics
    /// If the part is not inside the tile or does not start at multiples of 8, or as for [`first`](Self::first).
    #[doc(alias = "wmma::store_matrix_sync", alias = "store_matrix_sync")]
    #[inline(always)]
    #[track_caller]
    pub fn store(&mut self, part: (usize, usize), values: &Accumulator<T>) {
        let (first_row, first_column) = self.first_of(part);
        let lane = group_and_place();
        // A pair of neighbours is aligned if those of every row are.
        let in_pairs =
            self.layout.pitch.is_multiple_of(2) && self.start.addr().is_multiple_of(2 * size_of::<T>());
        unroll::<2>(|pair| {
            let i = 2 * pair;
            if i >= Accumulator::<T>::LEN {
                return;
            }
            let (row, column) = place_in_c(lane, i);
            let place = (first_row + row, first_column + column);
            if !self.layout.holds(place) {
                return;
            }
            // SAFETY: the place is inside, as is its right neighbour where that is written, and both are this lane's: the
            // tile is the warp's, and which lane holds an element of it is a matter of the element's place modulo 8 alone.
            unsafe {
                let to = self.start.add(self.layout.offset(place));
                let has_neighbour = self.layout.holds((place.0, place.1 + 1));
                if has_neighbour && in_pairs {
                    T::store_pair(to, [values.get(i), values.get(i + 1)]);
                } else {
                    to.write(values.get(i));
                    if has_neighbour {
                        to.add(1).write(values.get(i + 1));
                    }
                }
            }
        });
    }

    /// Loads accumulators from a part of the tile (`wmma::load_matrix_sync`); elements outside of the matrix are zero.
    ///
    /// # Panics
    /// As for [`store`](Self::store).
    #[doc(alias = "wmma::load_matrix_sync", alias = "load_matrix_sync")]
    #[inline(always)]
    #[track_caller]
    pub fn load(&self, part: (usize, usize)) -> Accumulator<T> {
        let (first_row, first_column) = self.first_of(part);
        let lane = group_and_place();
        Accumulator::from_indices(|i| {
            let (row, column) = place_in_c(lane, i);
            let place = (first_row + row, first_column + column);
            if self.layout.holds(place) {
                // SAFETY: the place is inside, and this lane's, as in `store`.
                unsafe { self.start.add(self.layout.offset(place)).read() }
            } else {
                bytemuck::Zeroable::zeroed()
            }
        })
    }

    /// Returns the position of a part of the tile in the matrix.
    #[inline(always)]
    #[track_caller]
    fn first_of(&self, (row, column): (usize, usize)) -> (usize, usize) {
        // The lanes hold pairs in 8 rows.
        let rows = Accumulator::<T>::LEN / 2 * 8;
        let is_inside = rows <= ROWS && row <= ROWS - rows && 8 <= COLUMNS && column <= COLUMNS - 8;
        if !is_inside || row % 8 != 0 || column % 8 != 0 {
            refuse((row, column), rows, (ROWS, COLUMNS));
        }
        let (first_row, first_column) = self.first();
        (first_row + row, first_column + column)
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn not_32(threads: u32) -> ! {
    panic!(
        "warps own tiles in blocks of 32 threads along x, not {threads}: say `block = (32, across, down)` in the contract"
    )
}

#[cold]
#[inline(never)]
#[track_caller]
fn refuse((row, column): (usize, usize), rows: usize, (all_rows, all_columns): (usize, usize)) -> ! {
    panic!(
        "accumulators of {rows} x 8 have no place at ({row}, {column}) of a tile of {all_rows} x {all_columns}: they must lie inside, \
         and start at multiples of 8"
    )
}

impl<T, const ROWS: usize, const COLUMNS: usize> fmt::Debug for MmaOutput<'_, T, ROWS, COLUMNS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MmaOutput").field("layout", &self.layout).finish_non_exhaustive()
    }
}

// SAFETY: `pack` takes rows that the runtime borrows exclusively for the launch, and each lane uses only the places that are its
// own in the tile of its warp.
unsafe impl<'k, T: DeviceCopy, const ROWS: usize, const COLUMNS: usize> Param<'k>
    for MmaOutput<'k, T, ROWS, COLUMNS>
{
    type Head = WriteStart<'k, T>;
    type Tail = layout::Layout2d;

    const SIGNATURE: Text =
        Text::Of("MmaOutput", &[T::TYPE, Text::Number(ROWS as i128), Text::Number(COLUMNS as i128)]);

    #[inline(always)]
    unsafe fn assemble(head: WriteStart<'k, T>, layout: &'k layout::Layout2d) -> Self {
        // Every `MmaOutput` is made here, so that its methods need no check.
        const {
            assert!(ROWS > 0 && COLUMNS > 0, "a tile has at least one element");
            assert!(ROWS < 1 << 15 && COLUMNS < 1 << 15, "a tile has less than 2^15 rows and columns");
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
        args.note_warp_tiles([ROWS, COLUMNS]);
    }
}
