//! How threads divide rows: which of them have a row, and which of its elements each visits.

use core::ops::Range;

#[cfg(target_arch = "nvptx64")]
use crate::warp;
use crate::{
    BlockScratch, block_rank,
    collective::{Operator, Room},
    global_rank,
    thread::unroll_while,
    thread_rank, threads_per_block, unroll,
    warp::{WARP_SIZE, WarpElement},
};

use super::{
    Finish, ParallelIterator, Position, Scope,
    reduce::by,
    rows::{RowsMemory, refuse_in_rows},
    scope,
};

/// On the CPU, threads meet as a block, whatever they have.
const IS_GPU: bool = cfg!(target_arch = "nvptx64");

/// The most items of a row that a thread keeps in registers.
pub(super) const SLOTS: usize = 16;

/// Which threads have a row, and how they divide it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// A block. Rows of whole chunks, of which each thread has two at most, so that few rows are many threads.
    Short,
    /// A group of lanes of a warp, and so a block has several rows; on the CPU a block of so many threads. Otherwise as `Short`.
    ShortOfLanes,
    /// A block. Rows of whole chunks. Each thread has as many as it keeps in registers, and what is beyond is read again.
    Long,
    /// A block. Rows of whole chunks. Threads keep nothing in registers, so that there is room for twice as many: all is read again.
    Longest,
    /// A block. Rows that are not of whole chunks, most of which are not aligned: chunks are elements, so that those of a warp lie side by side. Otherwise as `Long`.
    Odd,
    /// A group of lanes, as for `ShortOfLanes`. Chunks are elements, of which each lane has eight at most. Also rows of whole chunks of which too many lanes of a warp would
    /// have but one.
    OddOfLanes,
}

impl Division {
    /// Whether threads keep whole rows in registers, and count them in 32 bits.
    pub(super) const fn is_short(self) -> bool {
        matches!(self, Self::Short | Self::ShortOfLanes | Self::OddOfLanes)
    }

    /// Whether the kernel makes use of it that rows are whole chunks. They always are, but that of the longest has another order of loads with it, and takes 1.07 of the time
    /// on an H200.
    const fn is_whole(self) -> bool {
        !matches!(self, Self::Longest)
    }

    /// Whether a row has a group of lanes.
    pub const fn is_of_lanes(self) -> bool {
        matches!(self, Self::ShortOfLanes | Self::OddOfLanes)
    }

    /// The elements of a chunk, where others have so many.
    pub const fn chunk(self, lanes: usize) -> usize {
        match self {
            Self::Odd | Self::OddOfLanes => 1,
            _ => lanes,
        }
    }

    /// The threads that have a row of so many columns, in chunks of so many elements: whole warps, or a power of two of lanes.
    pub const fn threads(self, lanes: usize, columns: usize) -> usize {
        const WARP: usize = WARP_SIZE as usize;
        let lanes = self.chunk(lanes);
        if self.is_of_lanes() {
            let enough = columns.div_ceil(self.items(lanes));
            return if enough >= WARP { WARP } else { enough.next_power_of_two() };
        }
        let most = self.max_threads() as usize;
        let threads = match self.items(lanes) {
            0 => most,
            items => columns.div_ceil(items),
        };
        match threads.next_multiple_of(WARP) {
            0 => WARP,
            threads if threads > most => most,
            threads => threads,
        }
    }

    /// The items that a thread keeps in registers.
    const fn items(self, lanes: usize) -> usize {
        match self {
            Self::Short | Self::ShortOfLanes if 2 * lanes <= SLOTS => 2 * lanes,
            Self::Short | Self::ShortOfLanes => lanes,
            Self::Long | Self::Odd => SLOTS,
            Self::OddOfLanes => 8,
            Self::Longest => 0,
        }
    }

    /// The most columns that a block keeps in registers, or a group of lanes.
    pub const fn most_kept(self, lanes: usize) -> usize {
        let threads = if self.is_of_lanes() { WARP_SIZE } else { self.max_threads() };
        self.items(self.chunk(lanes)) * threads as usize
    }

    /// The chunks that a thread keeps in registers.
    const fn rounds(self, lanes: usize) -> usize {
        self.items(lanes) / lanes
    }

    /// The most threads of a block.
    pub const fn max_threads(self) -> u32 {
        match self {
            Self::Short | Self::ShortOfLanes | Self::OddOfLanes => 256,
            Self::Long | Self::Odd => 512,
            Self::Longest => 1024,
        }
    }
}

/// The threads of a block that go through a row, or lanes of a warp. Of each round, a thread visits a chunk; which one depends on its rank only.
#[derive(Clone, Copy)]
pub struct Block {
    scratch: *mut BlockScratch<'static, Room>,
    pub(super) rank: u32,
    threads: u32,
    /// The length of a chunk: a constant once the kernel is compiled.
    pub(super) lanes: usize,
    /// A constant, too.
    pub(super) division: Division,
    /// The columns of the first input: whole chunks, and if rows are short, not more than threads keep in registers.
    columns: usize,
    /// If lanes have the row, which of the warp's they are.
    #[cfg_attr(not(target_arch = "nvptx64"), allow(dead_code))] // Threads meet as a block there.
    group: u32,
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
    pub(super) unsafe fn new<T>(
        memory: &mut RowsMemory<'_, T>,
        lanes: usize,
        columns: usize,
    ) -> Option<(Self, usize)> {
        let division = memory.division;
        let (row, rank, threads) = if IS_GPU && division.is_of_lanes() {
            let log2 = memory.log2_of_lanes.min(5);
            (global_rank() >> log2, thread_rank() & ((1 << log2) - 1), 1 << log2)
        } else {
            (block_rank(), thread_rank(), threads_per_block())
        };
        let index = memory.first.wrapping_add(row);
        // Short rows are counted in 32 bits: a thread has little else to do.
        let can = (!division.is_whole() || columns.is_multiple_of(lanes))
            && (!division.is_short()
                || columns >> 32 == 0
                    && columns as u32 / lanes as u32 <= division.rounds(lanes) as u32 * threads);
        // Blocks are whole warps on a GPU, which the compiler thereby knows.
        let are_warps = !IS_GPU || threads_per_block().is_multiple_of(WARP_SIZE);
        let is_there = are_warps && index < memory.shape[0];
        let group = match threads {
            WARP_SIZE.. => u32::MAX,
            _ => ((1 << threads) - 1) << (thread_rank() % WARP_SIZE - rank % WARP_SIZE),
        };
        let block = Self {
            scratch: (&raw mut memory.scratch).cast(),
            rank,
            threads,
            lanes,
            division,
            columns,
            group,
        };
        (is_there && can).then_some((block, index))
    }

    /// Combines the values of all threads; each gets the result.
    #[inline(always)]
    fn reduce<T: WarpElement>(self, value: T, operator: &impl Operator<T>) -> T {
        #[cfg(target_arch = "nvptx64")]
        if self.division.is_of_lanes() {
            return warp::reduce_lanes(self.group, self.threads, value, operator);
        }
        // SAFETY: the scratch is the block's, and lasts as long as its rows. It is borrowed for this call only, and not while the operator runs, which
        // might use it, too.
        let mut scratch = unsafe { (*self.scratch).for_one() };
        scratch.reduce(value, by(operator))
    }

    /// The number of rounds whose chunks are kept in registers.
    #[inline(always)]
    fn rounds(self) -> usize {
        self.division.rounds(self.lanes)
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

    /// Whether chunks are elements.
    #[inline(always)]
    fn is_of_elements(self) -> bool {
        self.lanes == 1
    }

    /// Calls `f` with the round and the index of each element of the calling thread that is kept in registers, if these are chunks. There may be many rounds: each
    /// compares with a constant, and the first that the thread has not ends them.
    #[inline(always)]
    fn for_each_element(self, len: usize, mut f: impl FnMut(usize, usize)) {
        let own = (self.chunks(len) + (self.threads - 1 - self.rank)) / self.threads;
        unroll_while::<SLOTS>(|round| {
            let is_there = round < self.rounds() && (round as u32) < own;
            if is_there {
                stay_behind();
                f(round, (round as u32 * self.threads + self.rank) as usize);
            }
            is_there
        });
    }

    /// Calls `f` with the round and the first index of each whole chunk of the calling thread that is kept in registers.
    #[inline(always)]
    pub(super) fn for_each_chunk(self, len: usize, mut f: impl FnMut(usize, usize)) {
        inline_callers();
        if self.is_of_elements() {
            return self.for_each_element(len, f);
        }
        // In 32 bits, which these chunks take, and their elements.
        let (chunks, lanes) = (self.chunks(len), self.lanes as u32);
        unroll::<SLOTS>(|round| {
            let chunk = round as u32 * self.threads + self.rank;
            if round < self.rounds() && chunk < chunks {
                f(round, (chunk * lanes) as usize);
            }
        });
    }

    /// Calls `f` with each position of the calling thread that is kept in registers. Slots are constants before anything else is known of the block, so that what
    /// has them is in registers from the beginning, and constants of the block that are beside them are seen.
    #[inline(always)]
    pub(super) fn for_each_slot(self, len: usize, mut f: impl FnMut(Position)) {
        inline_callers();
        if self.is_of_elements() {
            return self.for_each_element(len, |slot, index| f(Position { index, slot }));
        }
        let (chunks, lanes) = (self.chunks(len), self.lanes as u32);
        let kept_index = |slot: usize| {
            let (round, lane) = (slot as u32 / lanes, slot as u32 % lanes);
            let chunk = round * self.threads + self.rank;
            let is_kept = (round as usize) < self.rounds() && chunk < chunks;
            is_kept.then_some((chunk * lanes + lane) as usize)
        };
        // One branch for slots of one chunk, whose items are then computed side by side.
        unroll::<{ SLOTS / 4 }>(|group| {
            if lanes >= 4 {
                if let Some(first) = kept_index(4 * group) {
                    stay_behind();
                    unroll::<4>(|i| f(Position { index: first + i, slot: 4 * group + i }));
                }
                return;
            }
            unroll::<4>(|i| {
                if let Some(index) = kept_index(4 * group + i) {
                    stay_behind();
                    f(Position { index, slot: 4 * group + i });
                }
            });
        });
    }

    /// The same in chunks of so many, which is the block's length, as a constant: with one branch for each chunk.
    #[inline(always)]
    pub(super) fn for_each_slot_of<const N: usize>(self, len: usize, mut f: impl FnMut(Position)) {
        inline_callers();
        if N == 1 {
            return self.for_each_element(len, |slot, index| f(Position { index, slot }));
        }
        let chunks = self.chunks(len);
        unroll::<SLOTS>(|round| {
            let chunk = round as u32 * self.threads + self.rank;
            if round * N < SLOTS && round < self.rounds() && chunk < chunks {
                stay_behind();
                let first = (chunk * N as u32) as usize;
                unroll::<N>(|lane| f(Position { index: first + lane, slot: round * N + lane }));
            }
        });
    }

    /// The whole chunks beyond those of registers, which long rows have, and whose items are computed again each time.
    #[inline(always)]
    fn chunks_beyond(self, len: usize) -> Range<usize> {
        let chunks = self.chunks(len) as usize;
        let have_more = matches!(self.division, Division::Long | Division::Longest | Division::Odd);
        chunks..if have_more { len / self.lanes } else { chunks }
    }

    /// Calls `f` with the first index and the items of each chunk of the calling thread that is beyond those of registers, and whether they are aligned, as a constant.
    /// Which chunks these are does not depend on that.
    ///
    /// # Safety
    /// There are so many positions, aligned if that is said, and `N` is the block's.
    #[inline(always)]
    pub(super) unsafe fn for_each_beyond<const N: usize, P: ParallelIterator>(
        self,
        iter: &P,
        len: usize,
        are_aligned: bool,
        mut f: impl FnMut(usize, [Option<P::Item>; N], bool),
    ) {
        let Range { start, end } = self.chunks_beyond(len);
        if start == end {
            return;
        }
        // It divides to know how many there are, by which LLVM loads several at once.
        let chunks = (start + self.rank as usize..end).step_by(self.threads as usize);
        if are_aligned {
            // SAFETY: the chunk is whole and aligned.
            chunks.for_each(|chunk| f(chunk * N, unsafe { iter.lanes::<N>(chunk * N) }, true));
        } else {
            chunks.for_each(|chunk| {
                // SAFETY: the chunk is whole.
                let item = |lane| unsafe { iter.get(Position::at(chunk * N + lane)) };
                f(chunk * N, core::array::from_fn(item), false);
            });
        }
    }

    /// The same of chunks of one element.
    ///
    /// # Safety
    /// There are so many positions.
    #[inline(always)]
    pub(super) unsafe fn for_each_element_beyond<P: ParallelIterator>(
        self,
        iter: &P,
        len: usize,
        mut f: impl FnMut(usize, Option<P::Item>),
    ) {
        const AT_ONCE: usize = 8;
        let Range { start, end } = self.chunks_beyond(len);
        if start == end {
            return;
        }
        let (mut index, threads) = (start + self.rank as usize, self.threads as usize);
        // SAFETY: the index is below the number of positions.
        let item = |index| unsafe { iter.get(Position::at(index)) };
        // Of several loads at once, there are enough under way.
        while index + (AT_ONCE - 1) * threads < end {
            let items: [_; AT_ONCE] = core::array::from_fn(|i| item(index + i * threads));
            for item in items {
                f(index, item);
                index += threads;
            }
        }
        while index < end {
            f(index, item(index));
            index += threads;
        }
    }

    /// Calls `f` with each item of the chunks of [`for_each_beyond`](Self::for_each_beyond).
    ///
    /// # Safety
    /// As for that.
    #[inline(always)]
    unsafe fn visit_beyond<const N: usize, P: ParallelIterator>(
        self,
        iter: &P,
        len: usize,
        f: &mut impl FnMut(Option<P::Item>),
    ) {
        if N == 1 {
            // SAFETY: as the caller promises.
            return unsafe { self.for_each_element_beyond(iter, len, |_, item| f(item)) };
        }
        // SAFETY: as the caller promises, and aligned as is looked at here.
        unsafe {
            self.for_each_beyond(iter, len, iter.is_aligned::<N>(), |_, items: [_; N], _| {
                items.into_iter().for_each(&mut *f)
            });
        }
    }

    /// Calls `f` with each index of the calling thread that is in no chunk.
    #[inline(always)]
    pub(super) fn for_each_other(self, len: usize, mut f: impl FnMut(usize)) {
        // None, unlike of parts of a row, and of rows of other inputs.
        if self.division.is_whole() && len == self.columns {
            return;
        }
        let in_chunks = self.chunks_beyond(len).end * self.lanes;
        let mut index = in_chunks + self.rank as usize;
        while index < len {
            f(index);
            index += self.threads as usize;
        }
    }

    /// Calls `f` with each item of the calling thread.
    #[inline(always)]
    fn for_each<P: ParallelIterator>(self, iter: &P, mut f: impl FnMut(P::Item)) {
        let len = iter.positions();
        let mut visit = |item: Option<P::Item>| {
            if let Some(item) = item {
                f(item)
            }
        };
        // SAFETY: the chunk is whole, and the slot the calling thread's.
        self.for_each_slot(len, |at| visit(unsafe { iter.get(at) }));
        // SAFETY: `N` is the block's, and the index below the number of positions.
        unsafe {
            match self.lanes {
                2 => self.visit_beyond::<2, P>(iter, len, &mut visit),
                4 => self.visit_beyond::<4, P>(iter, len, &mut visit),
                8 => self.visit_beyond::<8, P>(iter, len, &mut visit),
                16 => self.visit_beyond::<16, P>(iter, len, &mut visit),
                _ => self.visit_beyond::<1, P>(iter, len, &mut visit),
            }
            self.for_each_other(len, |index| visit(iter.get(Position::at(index))));
        }
    }
}

/// Keeps LLVM from computing what follows where it is not asked for: the quotient of an element that a thread has not, and that is no usual number, takes ptxas's slow way.
/// A row of 1000 numbers took 1.08 of what it takes with the branch.
#[inline(always)]
fn stay_behind() {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            safe fn __gpukernel_stay_behind();
        }
        __gpukernel_stay_behind();
    }
}

/// Has the function inlined into the kernel that has the row.
#[inline(always)]
fn inline_callers() {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            safe fn __gpukernel_inline_callers();
        }
        __gpukernel_inline_callers();
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
        block.for_each(&iter, |item| result = operator.combine(result, item));
        finish.finish(block.reduce(result, &operator))
    }
}
