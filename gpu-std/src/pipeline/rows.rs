//! Pipelines of rows: a block goes through each row of a matrix, or a group of lanes if the row is short. Each thread keeps the elements of a row that it visits in
//! registers.

use core::mem::MaybeUninit;

use super::{
    End, EndsIn, In2d, IndexedParallelIterator, Out2d, ParallelIterator, PerRow, Position, Refusal, Size,
    collect::is_aligned,
    division::{Block, Division, SLOTS},
    iter::NOWHERE,
};
use crate::{
    BlockScratch, DeviceCopy, UnsafeSlice,
    collective::Room,
    elementwise::{load, store},
};

/// What the host refuses before the launch is a panic where it cannot look.
#[inline(always)]
pub(super) fn refuse_in_rows(iter: &impl ParallelIterator) {
    if let Some(refusal) = iter.refusal() {
        refused(refusal)
    }
}

#[cold]
#[inline(never)]
fn refused(refusal: Refusal) -> ! {
    panic!("{refusal}")
}

/// A row of a matrix, of which each thread of a block has elements.
///
/// ```
/// # use gpu_std::{pipeline::*, prelude::*};
/// #[pipeline]
/// pub fn spread(x: In2d<f32>) -> PerRow<f32> {
///     x.rows().map(|row: Row<f32>| row.max() - row.min())
/// }
/// ```
pub struct Row<'k, T> {
    elements: &'k [T],
    /// Those of the calling thread's chunks.
    own: [MaybeUninit<T>; SLOTS],
    block: Block,
}

impl<T: Copy> Clone for Row<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for Row<'_, T> {}

impl<'k, T: DeviceCopy> Row<'k, T> {
    #[inline(always)]
    fn new(elements: &'k [T], block: Block) -> Self {
        let mut own = [const { MaybeUninit::uninit() }; SLOTS];
        // SAFETY: chunks are inside of the row, and slots inside of `own`, as the number of rounds is.
        unsafe {
            match block.lanes {
                2 => load_chunks::<T, 2>(elements, &mut own, block),
                4 => load_chunks::<T, 4>(elements, &mut own, block),
                8 => load_chunks::<T, 8>(elements, &mut own, block),
                16 => load_chunks::<T, 16>(elements, &mut own, block),
                _ => load_chunks::<T, 1>(elements, &mut own, block),
            }
        }
        Self { elements, own, block }
    }
}

/// Loads the elements of the calling thread's chunks of `N`.
///
/// # Safety
/// `N` is the block's.
#[inline(always)]
unsafe fn load_chunks<T: DeviceCopy, const N: usize>(
    elements: &[T],
    own: &mut [MaybeUninit<T>; SLOTS],
    block: Block,
) {
    let start = elements.as_ptr();
    let mut keep = |round: usize, chunk: [T; N]| {
        // SAFETY: there are slots for the chunks of all rounds.
        unsafe { own.as_mut_ptr().add(round * N).cast::<[T; N]>().write(chunk) };
    };
    let is_aligned = is_aligned::<T, N>(start);
    // SAFETY: chunks are whole, and aligned as the row is, because their first indices are multiples of their length.
    let aligned = |first: usize| unsafe { load_hidden::<T, N>(start.add(first)) };
    let other = |first: usize| -> [T; N] {
        // SAFETY: chunks are whole.
        core::array::from_fn(|lane| unsafe { start.add(first + lane).read() })
    };
    let len = elements.len();
    if block.division.is_short() {
        return block.for_each_chunk(len, |round, first| {
            keep(round, if is_aligned { aligned(first) } else { other(first) })
        });
    }
    // One loop or the other, for which the address is looked at once.
    match is_aligned {
        true => block.for_each_chunk(len, |round, first| keep(round, aligned(first))),
        false => block.for_each_chunk(len, |round, first| keep(round, other(first))),
    }
}

/// Loads elements as one value, as [`load`] does, and hides that from LLVM, which makes one load by elements of two ways to load the same elements.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
unsafe fn load_hidden<T: DeviceCopy, const N: usize>(from: *const T) -> [T; N] {
    #[cfg(target_arch = "nvptx64")]
    {
        #[allow(clashing_extern_declarations)] // Elements may have padding, which is not initialised.
        unsafe extern "C" {
            safe fn __gpukernel_opaque_u32(value: MaybeUninit<u32>) -> MaybeUninit<u32>;
            safe fn __gpukernel_opaque_u64(value: MaybeUninit<u64>) -> MaybeUninit<u64>;
        }
        // SAFETY: as the caller promises, so many bytes are there; where they are loaded as one value, they are aligned as that is.
        unsafe {
            match (size_of::<[T; N]>(), crate::elementwise::align_of_lanes::<T, N>()) {
                (16, 16) => {
                    let words: [MaybeUninit<u64>; 2] = load(from.cast());
                    return core::mem::transmute_copy(&words.map(|word| __gpukernel_opaque_u64(word)));
                }
                (8, 8) => {
                    return core::mem::transmute_copy(&__gpukernel_opaque_u64(
                        from.cast::<MaybeUninit<u64>>().read(),
                    ));
                }
                (4, 4) => {
                    return core::mem::transmute_copy(&__gpukernel_opaque_u32(
                        from.cast::<MaybeUninit<u32>>().read(),
                    ));
                }
                _ => {}
            }
        }
    }
    // SAFETY: as the caller promises.
    unsafe { load(from) }
}

impl<T> core::fmt::Debug for Row<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Row").field("len", &self.elements.len()).finish_non_exhaustive()
    }
}

// SAFETY: there is an element at each index below the length, and in each slot of a position of the calling thread.
unsafe impl<T: DeviceCopy> ParallelIterator for Row<'_, T> {
    type Item = T;
    type Scope = Block;

    #[inline(always)]
    fn scope(&self) -> Block {
        self.block
    }

    #[inline(always)]
    fn refusal(&self) -> Option<Refusal> {
        None
    }

    #[inline(always)]
    fn positions(&self) -> usize {
        self.elements.len()
    }

    #[inline(always)]
    unsafe fn get(&self, at: Position) -> Option<T> {
        // SAFETY: the caller promises that the index is below the length. A slot is given by the loop of the block that loaded the element there.
        Some(unsafe {
            match at.slot {
                NOWHERE => *self.elements.get_unchecked(at.index),
                slot => self.own.get_unchecked(slot).assume_init_read(),
            }
        })
    }

    #[inline(always)]
    fn is_aligned<const N: usize>(&self) -> bool {
        is_aligned::<T, N>(self.elements.as_ptr())
    }

    #[inline(always)]
    unsafe fn lanes<const N: usize>(&self, first: usize) -> [Option<T>; N] {
        // SAFETY: the caller promises that so many elements are there, and aligned.
        unsafe { load::<T, N>(self.elements.as_ptr().add(first)) }.map(Some)
    }
}

// SAFETY: there is an element at each index.
unsafe impl<T: DeviceCopy> IndexedParallelIterator for Row<'_, T> {}

/// The iterator of [`cached`](IndexedParallelIterator::cached).
pub struct Cached<P: ParallelIterator> {
    iter: P,
    own: [MaybeUninit<P::Item>; SLOTS],
}

impl<P: ParallelIterator<Item: Copy> + Copy> Clone for Cached<P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: ParallelIterator<Item: Copy> + Copy> Copy for Cached<P> {}

impl<P: IndexedParallelIterator<Scope = Block>> Cached<P> {
    #[inline(always)]
    pub(super) fn new(iter: P) -> Self {
        refuse_in_rows(&iter);
        let mut own = [const { MaybeUninit::uninit() }; SLOTS];
        let block = iter.scope();
        // SAFETY: the chunk is whole, and the slot the calling thread's.
        block.for_each_slot(iter.len(), |at| own[at.slot] = MaybeUninit::new(unsafe { iter.item(at) }));
        Self { iter, own }
    }
}

impl<P: ParallelIterator + core::fmt::Debug> core::fmt::Debug for Cached<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Cached").field("iter", &self.iter).finish_non_exhaustive()
    }
}

// SAFETY: positions are those of the iterator, and slots those of the loop that filled them.
unsafe impl<P: IndexedParallelIterator<Item: Copy>> ParallelIterator for Cached<P> {
    type Item = P::Item;
    type Scope = P::Scope;

    super::forward! { iter }

    #[inline(always)]
    fn positions(&self) -> usize {
        self.iter.positions()
    }

    #[inline(always)]
    unsafe fn get(&self, at: Position) -> Option<P::Item> {
        // SAFETY: as the caller promises.
        Some(unsafe {
            match at.slot {
                NOWHERE => self.iter.item(at),
                slot => self.own.get_unchecked(slot).assume_init_read(),
            }
        })
    }

    #[inline(always)]
    fn is_aligned<const N: usize>(&self) -> bool {
        self.iter.is_aligned::<N>()
    }

    #[inline(always)]
    unsafe fn lanes<const N: usize>(&self, first: usize) -> [Option<P::Item>; N] {
        // SAFETY: as the caller promises.
        unsafe { self.iter.lanes(first) }
    }
}

// SAFETY: there is an item wherever there is one of the iterator.
unsafe impl<P: IndexedParallelIterator<Item: Copy>> IndexedParallelIterator for Cached<P> {}

/// Rows, or what is made of each: what a function that returns [`Out2d`] or [`PerRow`] ends in.
///
/// ```
/// use gpu_std::{pipeline::*, prelude::*};
///
/// /// The cosine of the angle between the rows of two matrices.
/// #[pipeline]
/// pub fn cosines(a: In2d<f32>, b: In2d<f32>) -> PerRow<f32> {
///     a.rows().zip(b.rows()).map(|(a, b)| {
///         let length = |row: Row<f32>| row.map(|v| v * v).sum().sqrt();
///         a.zip(b).map(|(a, b)| a * b).sum() / (length(a) * length(b))
///     })
/// }
/// ```
///
/// # Safety
/// [`row`](Self::row) is sound for each index; where there is no row, it panics, or returns another one.
pub unsafe trait RowIterator: Sized {
    /// A row, or what is made of it.
    type Item;

    /// Returns the number of rows.
    fn rows(&self) -> usize;

    /// Returns the number of columns of the first input.
    fn columns(&self) -> usize;

    /// Returns a row, for the calling thread of a block.
    ///
    /// # Safety
    /// All threads that go through the row get it.
    #[doc(hidden)]
    unsafe fn row(&self, index: usize, block: Block) -> Self::Item;

    /// Computes `f` of each row. All threads of the block or group of lanes that has the row call it, and compute the same reductions in the same order.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn sums(x: In2d<f32>) -> PerRow<f32> {
    ///     x.rows().map(|row| row.sum())
    /// }
    /// ```
    #[inline(always)]
    fn map<U, F: Fn(Self::Item) -> U>(self, f: F) -> MapRows<Self, F> {
        MapRows { rows: self, f }
    }

    /// Pairs rows with those of another matrix; the smaller number of rows ends the pairs.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn dots(a: In2d<f32>, b: In2d<f32>) -> PerRow<f32> {
    ///     a.rows().zip(b.rows()).map(|(a, b)| a.zip(b).map(|(a, b)| a * b).sum())
    /// }
    /// ```
    #[inline(always)]
    fn zip<B: RowIterator>(self, other: B) -> ZipRows<Self, B> {
        ZipRows { a: self, b: other }
    }

    /// Pairs each row with its index.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn scaled(x: In2d<f32>, factors: In<f32>) -> Out2d<f32> {
    ///     x.rows().enumerate().map(move |(i, row)| {
    ///         let factor = factors.get(i).unwrap_or(1.0);
    ///         row.map(move |v| factor * v)
    ///     })
    /// }
    /// ```
    #[inline(always)]
    fn enumerate(self) -> EnumerateRows<Self> {
        EnumerateRows { rows: self }
    }
}

/// The rows of an input.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'k, T> {
    pub(super) input: In2d<'k, T>,
}

// SAFETY: a row that is not inside of the elements is a panic.
unsafe impl<'k, T: DeviceCopy> RowIterator for Rows<'k, T> {
    type Item = Row<'k, T>;

    #[inline(always)]
    fn rows(&self) -> usize {
        self.input.row_count()
    }

    #[inline(always)]
    fn columns(&self) -> usize {
        self.input.columns()
    }

    #[inline(always)]
    unsafe fn row(&self, index: usize, block: Block) -> Row<'k, T> {
        Row::new(self.input.row(index, block.division), block)
    }
}

macro_rules! of_rows {
    ($(
        $(#[$doc:meta])*
        $Of:ident<$first:ident: $First:ident $(, $other:ident: $Other:ident)?> $(where $Bound:ident: Fn($($arg:ty)?) -> $U:ident)?:
        $Item:ty, |$this:ident, $index:ident, $block:ident| $row:expr, rows: $rows:expr;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $Of<$First $(, $Other)?> {
            $first: $First,
            $($other: $Other,)?
        }

        super::debug! { $Of<$First $(, $Other)?>: $first }

        of_rows! { @bounds $Of<$First $(, $Other)?> [$($Bound: Fn($($arg)?) -> $U)?] $first $Item, $this, $index, $block, $row, $rows }
    )*};
    (@bounds $Of:ident<$First:ident, $Other:ident> [$Bound:ident: Fn($arg:ty) -> $U:ident] $first:ident $Item:ty, $this:ident, $index:ident, $block:ident, $row:expr, $rows:expr) => {
        // SAFETY: rows are those of the iterator.
        unsafe impl<$First: RowIterator, $U, $Other: Fn($arg) -> $U> RowIterator for $Of<$First, $Other> {
            of_rows! { @items $first $Item, $this, $index, $block, $row, $rows }
        }
    };
    (@bounds $Of:ident<$First:ident, $Other:ident> [] $first:ident $Item:ty, $this:ident, $index:ident, $block:ident, $row:expr, $rows:expr) => {
        // SAFETY: rows are those of both iterators.
        unsafe impl<$First: RowIterator, $Other: RowIterator> RowIterator for $Of<$First, $Other> {
            of_rows! { @items $first $Item, $this, $index, $block, $row, $rows }
        }
    };
    (@bounds $Of:ident<$First:ident> [] $first:ident $Item:ty, $this:ident, $index:ident, $block:ident, $row:expr, $rows:expr) => {
        // SAFETY: rows are those of the iterator.
        unsafe impl<$First: RowIterator> RowIterator for $Of<$First> {
            of_rows! { @items $first $Item, $this, $index, $block, $row, $rows }
        }
    };
    (@items $first:ident $Item:ty, $this:ident, $index:ident, $block:ident, $row:expr, $rows:expr) => {
        type Item = $Item;

        #[inline(always)]
        fn rows(&self) -> usize {
            let $this = self;
            $rows
        }

        #[inline(always)]
        fn columns(&self) -> usize {
            self.$first.columns()
        }

        #[inline(always)]
        unsafe fn row(&self, $index: usize, $block: Block) -> Self::Item {
            let $this = self;
            // SAFETY: as the caller promises.
            unsafe { $row }
        }
    };
}

of_rows! {
    /// The iterator of [`map`](RowIterator::map).
    MapRows<rows: R, f: F> where F: Fn(R::Item) -> U: U, |this, index, block| (this.f)(this.rows.row(index, block)), rows: this.rows.rows();
    /// The iterator of [`zip`](RowIterator::zip).
    ZipRows<a: A, b: B>: (A::Item, B::Item), |this, index, block| (this.a.row(index, block), this.b.row(index, block)), rows: this.a.rows().min(this.b.rows());
    /// The iterator of [`enumerate`](RowIterator::enumerate).
    EnumerateRows<rows: R>: (usize, R::Item), |this, index, block| (index, this.rows.row(index, block)), rows: this.rows.rows();
}

/// What the kernel of an [`Out2d`] or [`PerRow`] takes besides its inputs.
#[doc(hidden)]
#[allow(missing_docs)]
#[derive(Debug)]
pub struct RowsMemory<'k, T> {
    pub division: Division,
    /// The logarithm of the number of lanes that have a row, if lanes have.
    pub log2_of_lanes: u32,
    pub scratch: BlockScratch<'k, Room>,
    /// The first row.
    pub first: usize,
    /// The extents of the output; one column for [`PerRow`].
    pub shape: [usize; 2],
    pub output: UnsafeSlice<'k, T>,
}

impl<T: DeviceCopy> RowsMemory<'_, T> {
    /// The start of a row of the output, if it is inside.
    #[inline(always)]
    fn row(&self, index: usize) -> Option<*mut T> {
        let start = start_of_row(index, self.shape[1], self.output.len(), self.division)?;
        // SAFETY: the row is inside of the output.
        Some(unsafe { self.output.as_mut_ptr().add(start) })
    }
}

/// The first element of a row, if the row is inside of so many elements.
#[inline(always)]
pub(super) fn start_of_row(index: usize, columns: usize, len: usize, division: Division) -> Option<usize> {
    let (start, end) = if !division.is_short() {
        let start = index.checked_mul(columns)?;
        (start, start.checked_add(columns)?)
    } else if (index | columns) >> 32 == 0 {
        // One instruction, where the other product takes four, before the first load.
        let start = (u64::from(index as u32) * u64::from(columns as u32)) as usize;
        (start, start.wrapping_add(columns))
    } else {
        return None;
    };
    (end <= len).then_some(start)
}

impl<T: DeviceCopy> End for Out2d<T> {
    type Memory<'k> = RowsMemory<'k, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Args<'a, R: crate::host::Runtime> = crate::host::RowsArgs<'a, R, T>;
}

impl<T: DeviceCopy> End for PerRow<T> {
    type Memory<'k> = RowsMemory<'k, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Args<'a, R: crate::host::Runtime> = crate::host::RowsArgs<'a, R, T>;
}

impl<T, R> EndsIn<Out2d<T>> for R
where
    T: DeviceCopy,
    R: RowIterator<Item: IndexedParallelIterator<Item = T>>,
{
    fn size(&self) -> Result<Size, Refusal> {
        Ok(Size { len: self.rows(), columns: self.columns() })
    }

    #[inline(always)]
    unsafe fn run<const LANES: usize>(self, mut memory: RowsMemory<'_, T>) {
        // Dropped before the scratch, which rows use that a closure may have kept.
        let pipeline = self;
        let columns = memory.shape[1];
        // SAFETY: the scratch is used for the row below only.
        let block = unsafe { Block::new(&mut memory, LANES, pipeline.columns()) };
        // No loop over rows: its pointers would need registers.
        let Some((block, index)) = block else { return };
        // SAFETY: all threads of the block are here, or of the group.
        let row = unsafe { pipeline.row(index, block) };
        refuse_in_rows(&row);
        if row.len() != columns {
            refuse_row(row.len(), columns)
        }
        let Some(to) = memory.row(index) else { return };
        let mut items = [const { MaybeUninit::uninit() }; SLOTS];
        block.for_each_slot_of::<LANES>(columns, |at| {
            // SAFETY: the chunk is whole, and the slot the calling thread's.
            items[at.slot] = MaybeUninit::new(unsafe { row.item(at) })
        });
        let chunk = |round: usize| -> [T; LANES] {
            // SAFETY: for the rounds of the loops below, those above have set the items.
            unsafe { items.as_ptr().add(round * LANES).cast::<[T; LANES]>().read() }
        };
        // SAFETY of both: the chunk is inside, and this thread's: rows of blocks or groups and chunks of threads differ, and depend on the extents of the output
        // only. Two loops as for loads; volatile, because LLVM takes the last
        // element of both out of the loops otherwise, and stores the last chunk in three parts.
        if is_aligned::<T, LANES>(to) {
            // SAFETY: as above; the chunk is aligned.
            block.for_each_chunk(columns, |round, first| unsafe { store(to.add(first), chunk(round)) });
        } else {
            block.for_each_chunk(columns, |round, first| {
                for (lane, item) in chunk(round).into_iter().enumerate() {
                    // SAFETY: as above.
                    unsafe { to.add(first + lane).write_volatile(item) };
                }
            });
        }
        if LANES == 1 {
            // Each element is a chunk, so that none is in no chunk.
            // SAFETY: as above, of elements beyond those.
            unsafe {
                block.for_each_element_beyond(&row, columns, |index, item| {
                    to.add(index).write(item.unwrap_unchecked())
                });
            }
            return;
        }
        let are_aligned = is_aligned::<T, LANES>(to) && row.is_aligned::<LANES>();
        // SAFETY: as above, of chunks beyond those. Volatile as there.
        unsafe {
            block.for_each_beyond(&row, columns, are_aligned, |first, items: [_; LANES], are_aligned| {
                let items = items.map(|item| item.unwrap_unchecked());
                if are_aligned {
                    return store(to.add(first), items);
                }
                for (lane, item) in items.into_iter().enumerate() {
                    to.add(first + lane).write_volatile(item);
                }
            });
        }
        // SAFETY: as above, of an index that is in no chunk.
        block.for_each_other(columns, |index| unsafe { to.add(index).write(row.item(Position::at(index))) });
    }
}

#[cold]
#[inline(never)]
fn refuse_row(found: usize, expected: usize) -> ! {
    panic!(
        "the pipeline of a row returns {found} items, and the row of an `Out2d` has {expected}: as many as that of the first input"
    )
}

impl<T: DeviceCopy, R: RowIterator<Item = T>> EndsIn<PerRow<T>> for R {
    fn size(&self) -> Result<Size, Refusal> {
        Ok(Size { len: self.rows(), columns: self.columns() })
    }

    #[inline(always)]
    unsafe fn run<const LANES: usize>(self, mut memory: RowsMemory<'_, T>) {
        // Dropped before the scratch, which rows use that a closure may have kept.
        let pipeline = self;
        // SAFETY: the scratch is used for the row below only.
        let block = unsafe { Block::new(&mut memory, LANES, pipeline.columns()) };
        let Some((block, index)) = block else { return };
        // SAFETY: all threads of the block are here, or of the group.
        let value = unsafe { pipeline.row(index, block) };
        if let (0, Some(to)) = (block.rank, memory.row(index)) {
            // SAFETY: the element is inside, and this thread's: rows of blocks or groups differ, and one thread of each comes here.
            unsafe { to.write(value) };
        }
    }
}
