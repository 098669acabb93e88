//! Pipelines of rows: a block goes through each row of a matrix, or a group of lanes if the row is short. Each thread keeps the elements of a row that it visits in
//! registers.

use core::mem::MaybeUninit;

use super::{
    End, EndsIn, Finish, In2d, IndexedParallelIterator, Out2d, ParallelIterator, PerRow, Position, Refusal,
    Scope, Size, iter::NOWHERE, reduce::by, scope,
};
#[cfg(target_arch = "nvptx64")]
use crate::warp;
use crate::{
    BlockScratch, DeviceCopy, UnsafeSlice, block_rank,
    collective::{Operator, Room},
    elementwise::{align_of_lanes, load, store},
    global_rank, thread_rank, threads_per_block, unroll,
    warp::{WARP_SIZE, WarpElement},
};

/// On the CPU, threads meet as a block, whatever they have.
const IS_GPU: bool = cfg!(target_arch = "nvptx64");

/// The most items of a row that a thread keeps in registers.
pub(super) const SLOTS: usize = 16;

/// Which threads have a row, and how they divide it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// A block. Rows of whole chunks, of which each thread has one at most, so that few rows are many threads.
    Short,
    /// A block. Each thread has as many chunks as it keeps in registers, and what is beyond is read again.
    Long,
    /// A group of lanes of a warp, and so a block has several rows; on the CPU a block of so many threads. Chunks as of `Short`.
    ShortOfLanes,
    /// The same with chunks as of `Long`.
    LongOfLanes,
}

impl Division {
    const fn is_short(self) -> bool {
        matches!(self, Self::Short | Self::ShortOfLanes)
    }

    /// Whether a row has a group of lanes.
    pub const fn is_of_lanes(self) -> bool {
        matches!(self, Self::ShortOfLanes | Self::LongOfLanes)
    }

    /// The threads that have a row of so many columns, in chunks of so many elements: whole warps, or lanes, a power of two. Each lane has at most one chunk and one
    /// of the elements that are in none, where 32 are enough for that.
    pub const fn threads(self, lanes: usize, columns: usize) -> usize {
        const WARP: usize = WARP_SIZE as usize;
        if self.is_of_lanes() {
            let (chunks, rest) = (columns.div_ceil(lanes), columns % lanes);
            let enough = if chunks > rest { chunks } else { rest };
            return if enough >= WARP { WARP } else { enough.next_power_of_two() };
        }
        let (threads, most) = (columns.div_ceil(self.items(lanes)), self.max_threads(lanes) as usize);
        match threads.next_multiple_of(WARP) {
            0 => WARP,
            threads if threads > most => most,
            threads => threads,
        }
    }

    /// The items that a thread keeps in registers.
    const fn items(self, lanes: usize) -> usize {
        if self.is_short() { lanes } else { SLOTS }
    }

    /// The most threads of a block.
    pub const fn max_threads(self, lanes: usize) -> u32 {
        match self {
            Self::ShortOfLanes | Self::LongOfLanes => 256,
            // Items of up to 4 bytes leave registers for so many.
            Self::Long if lanes >= 4 => 1024,
            Self::Short | Self::Long => 512,
        }
    }
}

/// The threads of a block that go through a row, or lanes of a warp. Of each round, a thread visits a chunk; which one depends on its rank only.
#[derive(Clone, Copy)]
pub struct Block {
    scratch: *mut BlockScratch<'static, Room>,
    rank: u32,
    threads: u32,
    /// The length of a chunk: a constant once the kernel is compiled.
    lanes: usize,
    /// A constant, too.
    division: Division,
    /// The columns of the first input: if rows are short, whole chunks, and not more than threads.
    columns: usize,
}

impl core::fmt::Debug for Block {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Block")
            .field("rank", &self.rank)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

impl Block {
    /// The threads that divide rows of so many columns, of which the calling thread is one, and the index of their row, if there is one and they can.
    ///
    /// # Safety
    /// The scratch is used by nothing else as long as there are rows of this block.
    #[inline(always)]
    unsafe fn new<T>(memory: &mut RowsMemory<'_, T>, lanes: usize, columns: usize) -> Option<(Self, usize)> {
        let division = memory.division;
        let (row, rank, threads) = if IS_GPU && division.is_of_lanes() {
            let log2 = memory.log2_of_lanes.min(5);
            (global_rank() >> log2, thread_rank() & ((1 << log2) - 1), 1 << log2)
        } else {
            (block_rank(), thread_rank(), threads_per_block())
        };
        let index = memory.first.wrapping_add(row);
        let can =
            !division.is_short() || columns.is_multiple_of(lanes) && columns / lanes <= threads as usize;
        // Blocks are whole warps on a GPU, which the compiler thereby knows.
        let are_warps = !IS_GPU || threads_per_block().is_multiple_of(WARP_SIZE);
        let is_there = are_warps && index < memory.shape[0];
        let block =
            Self { scratch: (&raw mut memory.scratch).cast(), rank, threads, lanes, division, columns };
        (is_there && can).then_some((block, index))
    }

    /// Combines the values of all threads; each gets the result.
    #[inline(always)]
    fn reduce<T: WarpElement>(self, value: T, operator: &impl Operator<T>) -> T {
        #[cfg(target_arch = "nvptx64")]
        if self.division.is_of_lanes() {
            return warp::reduce_lanes(self.threads, value, operator);
        }
        // SAFETY: the scratch is the block's, and lasts as long as its rows. It is borrowed for this call only, and not while the operator runs, which
        // might use it, too.
        let mut scratch = unsafe { (*self.scratch).for_one() };
        scratch.reduce(value, by(operator))
    }

    /// The number of rounds whose chunks are kept in registers.
    #[inline(always)]
    fn rounds(self) -> usize {
        self.division.items(self.lanes) / self.lanes
    }

    /// The number of whole chunks that are kept in registers of any thread.
    #[inline(always)]
    fn chunks(self, len: usize) -> u32 {
        let chunks = len / self.lanes;
        // For short rows of the first input, LLVM knows that this is so.
        if self.division.is_short() && len == self.columns {
            return chunks as u32;
        }
        chunks.min(self.rounds() * self.threads as usize) as u32
    }

    /// Calls `f` with the round and the first index of each whole chunk of the calling thread that is kept in registers.
    #[inline(always)]
    fn for_each_chunk(self, len: usize, mut f: impl FnMut(usize, usize)) {
        // In 32 bits, which these chunks take, and their elements.
        let (chunks, lanes) = (self.chunks(len), self.lanes as u32);
        unroll::<SLOTS>(|round| {
            let chunk = round as u32 * self.threads + self.rank;
            if round < self.rounds() && chunk < chunks {
                f(round, (chunk * lanes) as usize);
            }
        });
    }

    /// Calls `f` with each index of the calling thread that is in no chunk of registers.
    #[inline(always)]
    fn for_each_other(self, len: usize, mut f: impl FnMut(usize)) {
        // None, unlike of parts of a short row, and of rows of other inputs.
        if self.division.is_short() && len == self.columns {
            return;
        }
        let in_chunks = self.chunks(len) as usize * self.lanes;
        let mut index = in_chunks + self.rank as usize;
        while index < len {
            f(index);
            index += self.threads as usize;
        }
    }

    /// Calls `f` with each position of the calling thread.
    #[inline(always)]
    fn for_each(self, len: usize, mut f: impl FnMut(Position)) {
        // Short loops of a known length, which are unrolled.
        self.for_each_chunk(len, |round, first| {
            for lane in 0..self.lanes {
                f(Position { index: first + lane, slot: round * self.lanes + lane });
            }
        });
        self.for_each_other(len, |index| f(Position::at(index)));
    }
}

impl scope::sealed::Sealed for Block {}

impl Scope for Block {
    type Ended<P, O, F>
        = F::Output
    where
        P: ParallelIterator<Scope = Self>,
        P::Item: WarpElement,
        O: Operator<P::Item>,
        F: Finish<P::Item>;

    #[inline(always)]
    fn end<P, O, F>(iter: P, identity: P::Item, operator: O, finish: F) -> F::Output
    where
        P: ParallelIterator<Scope = Self>,
        P::Item: WarpElement,
        O: Operator<P::Item>,
        F: Finish<P::Item>,
    {
        let (block, mut result) = (iter.scope(), identity);
        refuse_in_rows(&iter);
        block.for_each(iter.positions(), |at| {
            // SAFETY: the index is below the number of positions, and the slot that of the calling thread.
            if let Some(item) = unsafe { iter.get(at) } {
                result = operator.combine(result, item);
            }
        });
        finish.finish(block.reduce(result, &operator))
    }
}

/// What the host refuses before the launch is a panic where it cannot look.
#[inline(always)]
fn refuse_in_rows(iter: &impl ParallelIterator) {
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
        for lane in 0..N {
            own[round * N + lane] = MaybeUninit::new(chunk[lane]);
        }
    };
    let is_aligned = start.addr() & (align_of_lanes::<T, N>() - 1) == 0;
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
            match (size_of::<[T; N]>(), align_of_lanes::<T, N>()) {
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
        block.for_each_chunk(iter.len(), |round, first| {
            for lane in 0..block.lanes {
                let slot = round * block.lanes + lane;
                // SAFETY: the chunk is whole, and the slot the calling thread's.
                own[slot] = MaybeUninit::new(unsafe { iter.item(Position { index: first + lane, slot }) });
            }
        });
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
        // One multiplication, where the other takes four, before the first load. It does not overflow.
        let start = index.wrapping_mul(columns);
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
        block.for_each_chunk(columns, |round, first| {
            for lane in 0..LANES {
                let (index, slot) = (first + lane, round * LANES + lane);
                // SAFETY: the chunk is whole, and the slot the calling thread's.
                items[slot] = MaybeUninit::new(unsafe { row.item(Position { index, slot }) });
            }
        });
        let chunk = |round: usize| -> [T; LANES] {
            // SAFETY: for the rounds of the loops below, those above have set the items.
            core::array::from_fn(|lane| unsafe { items[round * LANES + lane].assume_init_read() })
        };
        // SAFETY of both: the chunk is inside, and this thread's: rows of blocks or groups and chunks of threads differ, and depend on the extents of the output
        // only. Two loops as for loads; volatile, because LLVM takes the last
        // element of both out of the loops otherwise, and stores the last chunk in three parts.
        if super::collect::is_aligned::<T, LANES>(to) {
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
