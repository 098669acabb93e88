//! Two-dimensional shared arrays, with padding against bank conflicts.

use core::{fmt, iter::FusedIterator, marker::PhantomData};

use super::{
    KernelScope, SharedElement, SharedParam,
    phases::{phases, place, plane_view},
    stride::BlockStride2d,
};
use crate::thread::indexing::no_index;

/// A shared array of `ROWS` × `COLUMNS` elements (CUDA's `__shared__ T a[ROWS][COLUMNS + PAD]`), in the write phase: each
/// thread of the block accesses the elements that it owns.
///
/// The thread's index in the block gives its first element (x its column, y its row); the others follow in steps of the
/// block's dimensions. [`sync`](crate::sync) turns it into a [`SharedView2d`]. Elements that were not written have arbitrary
/// values, or are zero ([`SharedElement`]).
///
/// Every row is followed by `PAD` unused elements. With 4-byte elements in 32 columns, a `PAD` of 1 puts the elements of a
/// column into different banks, which avoids bank conflicts (CUDA C++ Best Practices Guide, "Shared Memory and Memory
/// Banks").
///
/// ```
/// use gpu_std::prelude::*;
///
/// const TILE: usize = 32;
///
/// #[kernel(block = (TILE as u32, TILE as u32))]
/// pub fn transpose(
///     input: &[f32],
///     output: PerThread2d<f32>,
///     mut tile: Shared2d<f32, TILE, TILE, 1>,
/// ) {
///     let (rows, columns) = (output.columns(), output.rows());
///     let (block, thread) = (block_index(), thread_index());
///     let (x, y) = (thread.x as usize, thread.y as usize);
///     let (row, column) = (block.x as usize * TILE + y, block.y as usize * TILE + x);
///     if let Some((_, element)) = tile.first_mut() {
///         *element = if row < rows && column < columns { input[row * columns + column] } else { 0.0 };
///     }
///     let tile = sync(tile);
///     let mut output = output;
///     if let Some((_, element)) = output.first_mut() {
///         *element = tile[(x, y)];
///     }
/// }
/// ```
#[doc(alias = "__shared__", alias = "cuda.shared.array")]
#[doc(alias = "shared.array", alias = "bank_conflict")]
pub struct Shared2d<'k, T, const ROWS: usize, const COLUMNS: usize, const PAD: usize = 0> {
    start: *mut T,
    scope: PhantomData<&'k mut [[T; COLUMNS]; ROWS]>,
}

impl<'k, T: SharedElement, const ROWS: usize, const COLUMNS: usize, const PAD: usize>
    Shared2d<'k, T, ROWS, COLUMNS, PAD>
{
    /// Iterates over the elements of this thread with their positions `(row, column)`.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> Shared2dIter<'_, T, COLUMNS, PAD> {
        Shared2dIter { places: BlockStride2d::new(ROWS, COLUMNS), start: self.start, scope: PhantomData }
    }

    /// Returns the first element of this thread with its position, if it has any. It is the only one if the block is as large
    /// as the array.
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<((usize, usize), &mut T)> {
        self.iter_mut().next()
    }

    /// Returns the element at `(row, column)`, if it belongs to this thread.
    #[inline(always)]
    pub fn get_mut(&mut self, (row, column): (usize, usize)) -> Option<&mut T> {
        // SAFETY: the element is this thread's, and borrowed from `self` exclusively.
        BlockStride2d::new(ROWS, COLUMNS)
            .takes(row, column)
            .then(|| unsafe { &mut *place::<T, COLUMNS, PAD>(self.start, row, column) })
    }
}

no_index! { IndexedBeforeBarrier: [const ROWS: usize, const COLUMNS: usize, const PAD: usize,] Shared2d<'_, T, ROWS, COLUMNS, PAD>; }

impl<T, const ROWS: usize, const COLUMNS: usize, const PAD: usize> fmt::Debug
    for Shared2d<'_, T, ROWS, COLUMNS, PAD>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared2d").field("rows", &ROWS).field("columns", &COLUMNS).finish_non_exhaustive()
    }
}

impl<'a, T: SharedElement, const ROWS: usize, const COLUMNS: usize, const PAD: usize> IntoIterator
    for &'a mut Shared2d<'_, T, ROWS, COLUMNS, PAD>
{
    type Item = ((usize, usize), &'a mut T);
    type IntoIter = Shared2dIter<'a, T, COLUMNS, PAD>;

    #[inline(always)]
    fn into_iter(self) -> Shared2dIter<'a, T, COLUMNS, PAD> {
        self.iter_mut()
    }
}

// SAFETY: threads use only the elements of their own place until a barrier.
unsafe impl<'k, T: SharedElement, const ROWS: usize, const COLUMNS: usize, const PAD: usize> SharedParam<'k>
    for Shared2d<'k, T, ROWS, COLUMNS, PAD>
{
    type Element = T;
    // A product that is too large is an error at compile time, in release builds too.
    const LEN: usize = match COLUMNS.checked_add(PAD) {
        Some(row) => match row.checked_mul(ROWS) {
            Some(len) => len,
            None => panic!("this shared array is larger than the address space"),
        },
        None => panic!("the rows of this shared array are larger than the address space"),
    };

    #[inline(always)]
    unsafe fn enter(storage: *mut T, _: &'k KernelScope) -> Self {
        Self { start: storage, scope: PhantomData }
    }
}

/// The iterator of [`Shared2d::iter_mut`].
pub struct Shared2dIter<'a, T, const COLUMNS: usize, const PAD: usize> {
    places: BlockStride2d,
    start: *mut T,
    scope: PhantomData<&'a mut [T]>,
}

impl<T, const COLUMNS: usize, const PAD: usize> fmt::Debug for Shared2dIter<'_, T, COLUMNS, PAD> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared2dIter").field("places", &self.places).finish_non_exhaustive()
    }
}

impl<'a, T, const COLUMNS: usize, const PAD: usize> Iterator for Shared2dIter<'a, T, COLUMNS, PAD> {
    type Item = ((usize, usize), &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<((usize, usize), &'a mut T)> {
        let (row, column) = self.places.next()?;
        // SAFETY: row and column are less than the extents. Places of one loop come once, those of other threads differ, there is
        // one loop at a time because the `Shared2d` is borrowed, and no thread reads before all came to a barrier without it.
        Some(((row, column), unsafe { &mut *place::<T, COLUMNS, PAD>(self.start, row, column) }))
    }
}

impl<T, const COLUMNS: usize, const PAD: usize> FusedIterator for Shared2dIter<'_, T, COLUMNS, PAD> {}

plane_view! {
    /// A [`Shared2d`] array in the read phase: every thread reads every element, as `view[(row, column)]`.
    ///
    /// [`sync`](crate::sync) turns it into a [`Shared2d`] again.
    SharedView2d, stored as T
}

phases! { Shared2d and SharedView2d: [T, const ROWS: usize, const COLUMNS: usize, const PAD: usize] [T, ROWS, COLUMNS, PAD] { start } }
