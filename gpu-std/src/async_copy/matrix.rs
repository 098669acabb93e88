//! Two-dimensional shared arrays that are filled asynchronously: tiles of matrices.

use core::{fmt, marker::PhantomData};

use super::{
    AsyncElement, PIECE, PendingCopy, Piece, Stage,
    copy::{can_copy_whole_pieces, copy_piece, copy_whole_piece},
    sealed,
};
use crate::{
    BlockStride, View2d,
    shared::phases::{phases, plane_view},
    shared::{KernelScope, SharedParam},
};

/// A shared array of `ROWS` × `COLUMNS` elements that is filled by asynchronous copies (`cp.async`): see [the module](super).
///
/// Every row is followed by `PAD` unused elements. The length of rows, padding included, is a multiple of 16 bytes; an odd
/// multiple puts the 16-byte pieces of eight rows into different banks, as matrix instructions read them.
///
/// ```
/// use gpu_std::prelude::{*, async_copy::*};
///
/// /// Transposes tiles of 32 × 32. One block per tile.
/// #[kernel(block = (32, 8))]
/// pub fn transpose(
///     from: View2d<f32>,
///     to: BlockTiles2d<f32, 32, 32>,
///     mut part: AsyncShared2d<f32, 32, 32, 4>,
/// ) {
///     for mut tile in to {
///         let (row, column) = tile.first();
///         let read = sync(part.copy_async(from, (column, row)).wait());
///         for ((row, column), element) in &mut tile {
///             *element = read[(column, row)];
///         }
///         part = sync(read);
///     }
/// }
/// ```
#[doc(alias = "__shared__", alias = "cp.async")]
#[doc(alias = "memcpy_async")]
pub struct AsyncShared2d<'k, T, const ROWS: usize, const COLUMNS: usize, const PAD: usize = 0> {
    pub(super) start: *mut Piece,
    scope: PhantomData<&'k mut [[T; COLUMNS]; ROWS]>,
}

/// Pieces per row, padding included.
const fn row_pieces<T, const COLUMNS: usize, const PAD: usize>() -> usize {
    let bytes = match COLUMNS.checked_add(PAD) {
        Some(row) => row.checked_mul(size_of::<T>()),
        None => None,
    };
    match bytes {
        Some(bytes) if bytes % PIECE == 0 => bytes / PIECE,
        Some(_) => {
            panic!("the rows of an `AsyncShared2d` array, padding included, are multiples of 16 bytes")
        }
        None => panic!("the rows of this `AsyncShared2d` array are larger than the address space"),
    }
}

impl<'k, T: AsyncElement, const ROWS: usize, const COLUMNS: usize, const PAD: usize>
    AsyncShared2d<'k, T, ROWS, COLUMNS, PAD>
{
    /// Pieces per row, padding included.
    pub(super) const ROW_PIECES: usize = row_pieces::<T, COLUMNS, PAD>();
    /// Pieces per row that are copied into.
    pub(super) const FILLED_PIECES: usize = (COLUMNS * size_of::<T>()).div_ceil(PIECE);

    /// Whether all pieces of a row are full.
    const HAS_WHOLE_PIECES: bool = (COLUMNS * size_of::<T>()).is_multiple_of(PIECE);

    /// Starts to copy the tile of a matrix whose first element is at `(row, column)` (`cp.async`, `__pipeline_memcpy_async`);
    /// what is outside of the matrix is filled with zeros.
    ///
    /// Each thread of the block copies some of the pieces, from the matrix and position that it passes: all threads should
    /// pass the same. It is fastest from global memory and if rows start at multiples of 16 bytes.
    #[doc(alias = "__pipeline_memcpy_async", alias = "cp.async")]
    #[doc(alias = "memcpy_async", alias = "cuda::memcpy_async")]
    #[inline(always)]
    pub fn copy_async<'s>(
        self,
        matrix: View2d<'s, T>,
        (row, column): (usize, usize),
    ) -> PendingCopy<'s, Self> {
        // The common case: the whole tile is inside, and no piece needs a check.
        if let (true, Some((first, pitch))) =
            (Self::HAS_WHOLE_PIECES, matrix.part((row, column), (ROWS, COLUMNS)))
            && can_copy_whole_pieces(first.cast(), pitch * size_of::<T>())
        {
            for piece in BlockStride::new(Self::FILLED_PIECES * ROWS) {
                let (tile_row, offset) = (piece / Self::FILLED_PIECES, piece % Self::FILLED_PIECES * PIECE);
                let from = first.cast::<u8>().wrapping_add(tile_row * pitch * size_of::<T>() + offset);
                // SAFETY: as below; the piece is a whole one, in a source that can be copied like that.
                unsafe {
                    copy_whole_piece(self.start.add(tile_row * Self::ROW_PIECES + offset / PIECE), from);
                }
            }
            return PendingCopy::new(self);
        }
        for piece in BlockStride::new(Self::FILLED_PIECES * ROWS) {
            let (tile_row, offset) = (piece / Self::FILLED_PIECES, piece % Self::FILLED_PIECES * PIECE);
            let source = matrix.row(row.saturating_add(tile_row)).and_then(|row| row.get(column..));
            let source = source.unwrap_or_default();
            let rest = (source.len().min(COLUMNS) * size_of::<T>()).saturating_sub(offset).min(PIECE);
            let from = source.as_ptr().cast::<u8>().wrapping_add(offset);
            // SAFETY: the piece is inside the storage and this thread's. The row has `rest` bytes from the offset on (where that is
            // none, the address is not used), and `PendingCopy` borrows it until this thread has waited.
            unsafe {
                let to = self.start.add(tile_row * Self::ROW_PIECES + offset / PIECE);
                copy_piece::<T>(to, from, rest);
            }
        }
        PendingCopy::new(self)
    }

    /// Starts no copy: for the last rounds of a [`Pipeline`](super::Pipeline).
    #[inline(always)]
    pub fn skip<'s>(self) -> PendingCopy<'s, Self> {
        PendingCopy::new(self)
    }
}

impl<T, const ROWS: usize, const COLUMNS: usize, const PAD: usize> fmt::Debug
    for AsyncShared2d<'_, T, ROWS, COLUMNS, PAD>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncShared2d")
            .field("rows", &ROWS)
            .field("columns", &COLUMNS)
            .finish_non_exhaustive()
    }
}

// SAFETY: until a barrier each thread uses only the pieces of its own rank.
unsafe impl<'k, T: AsyncElement, const ROWS: usize, const COLUMNS: usize, const PAD: usize> SharedParam<'k>
    for AsyncShared2d<'k, T, ROWS, COLUMNS, PAD>
{
    type Element = Piece;
    const LEN: usize = {
        assert!(
            align_of::<T>() <= PIECE,
            "elements of an `AsyncShared2d` array are aligned to at most 16 bytes"
        );
        match row_pieces::<T, COLUMNS, PAD>().checked_mul(ROWS) {
            Some(pieces) => pieces,
            None => panic!("this `AsyncShared2d` array is larger than the address space"),
        }
    };

    #[inline(always)]
    unsafe fn enter(storage: *mut Piece, _: &'k KernelScope) -> Self {
        Self { start: storage, scope: PhantomData }
    }
}

plane_view! {
    /// An [`AsyncShared2d`] array in the read phase: every thread reads every element, as `view[(row, column)]`.
    ///
    /// [`sync`](crate::sync) turns it into an [`AsyncShared2d`] again.
    AsyncSharedView2d, stored as Piece
}

#[cfg(target_arch = "nvptx64")]
impl<T, const ROWS: usize, const COLUMNS: usize, const PAD: usize>
    AsyncSharedView2d<'_, T, ROWS, COLUMNS, PAD>
{
    /// Returns the address of a piece of a row, padding not included.
    ///
    /// # Safety
    /// It is inside the array.
    #[inline(always)]
    pub(crate) unsafe fn piece(&self, row: usize, piece: usize) -> *const u8 {
        // SAFETY: as the caller promises.
        unsafe { self.start.add(row * const { row_pieces::<T, COLUMNS, PAD>() } + piece) }.cast()
    }
}

phases! {
    AsyncShared2d and AsyncSharedView2d:
    [T, const ROWS: usize, const COLUMNS: usize, const PAD: usize] [T, ROWS, COLUMNS, PAD] { start }
}

impl<T, const ROWS: usize, const COLUMNS: usize, const PAD: usize> sealed::Stage
    for AsyncShared2d<'_, T, ROWS, COLUMNS, PAD>
{
}

impl<'k, T, const ROWS: usize, const COLUMNS: usize, const PAD: usize> Stage
    for AsyncShared2d<'k, T, ROWS, COLUMNS, PAD>
{
    type View = AsyncSharedView2d<'k, T, ROWS, COLUMNS, PAD>;
}
