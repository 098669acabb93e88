//! On a GPU: lanes of a warp, which load chunks and combine them by shuffles.

use core::mem::MaybeUninit;

use super::{Part, Row, RowMut};
use crate::{
    block_dim, global_rank, threads_per_grid,
    warp::{WARP_SIZE, lane_index},
};

unsafe extern "C" {
    // As shuffles, for words that may be padding.
    safe fn __gpukernel_pass_index(word: MaybeUninit<u32>, lane: u32, control: u32) -> MaybeUninit<u32>;
    safe fn __gpukernel_pass_up(word: MaybeUninit<u32>, by: u32, control: u32) -> MaybeUninit<u32>;
    safe fn __gpukernel_pass_down(word: MaybeUninit<u32>, by: u32, control: u32) -> MaybeUninit<u32>;
}

/// The group of so many lanes of its warp that the calling thread is in.
///
/// All lanes of a warp take part in all steps: what a lane does too much is not used.
#[derive(Clone, Copy)]
pub(in crate::elementwise) struct Lanes {
    /// A power of two; 1, unless all warps are whole.
    count: u32,
}

impl Lanes {
    /// Groups of so many lanes, if there can be such groups.
    #[inline(always)]
    pub(in crate::elementwise) fn new(count: u32) -> Self {
        // Rows of a block that are whole warps, whose threads then follow each other in the grid, too.
        let can = count.is_power_of_two() && count <= WARP_SIZE && block_dim().x.is_multiple_of(WARP_SIZE);
        Self { count: if can { count } else { 1 } }
    }

    #[inline(always)]
    fn rank(self) -> u32 {
        lane_index() & (self.count - 1)
    }

    /// Calls `f` with numbers below `count`, and whether the number is the group's own. It is called as often in all lanes of a warp: each number is some group's
    /// own once.
    #[inline(always)]
    pub(in crate::elementwise) fn for_each(self, count: usize, mut f: impl FnMut(usize, bool)) {
        // Shifts, where a division would be one of 64 bits.
        let shift = self.count.trailing_zeros();
        let rank = global_rank();
        let (mut first, mut number) = ((rank & !(WARP_SIZE as usize - 1)) >> shift, rank >> shift);
        let stride = threads_per_grid() >> shift;
        while first < count {
            f(number.min(count - 1), number < count);
            first = first.wrapping_add(stride);
            number = number.wrapping_add(stride);
        }
    }

    /// Returns the elements of a part, combined in order, in the first lane of the group, and `None` in others.
    ///
    /// # Safety
    /// The part is not empty, and its elements are in the row. If the group is not one lane, all lanes of the warp call this together, with the same bounds of
    /// lengths, and any bytes are a `T`: they are what comes from a lane that has ended, by a panic.
    #[inline(always)]
    pub(in crate::elementwise) unsafe fn reduce<T: Copy>(
        self,
        part: Part,
        row: &impl Row<T>,
        f: &impl Fn(T, T) -> T,
    ) -> Option<T> {
        // SAFETY: as the caller promises.
        unsafe {
            match size_of::<T>() {
                0..=4 => self.reduce_chunks::<T, 4>(part, row, f),
                5..=8 => self.reduce_chunks::<T, 2>(part, row, f),
                _ => self.reduce_chunks::<T, 1>(part, row, f),
            }
        }
    }

    /// In rounds of some chunks of `N` elements for each lane, of a chunk for each, and then of an element for each.
    ///
    /// # Safety
    /// As of [`reduce`](Self::reduce).
    #[inline(always)]
    unsafe fn reduce_chunks<T: Copy, const N: usize>(
        self,
        part: Part,
        row: &impl Row<T>,
        f: &impl Fn(T, T) -> T,
    ) -> Option<T> {
        /// With one, shuffles took longer than memory, of which too little was under way.
        const CHUNKS: usize = 4;
        let rank = self.rank();
        let mut value = None;
        let mut many = Rounds::of(part, self.count * (CHUNKS * N) as u32);
        while let Some(first) = many.next_whole() {
            // SAFETY: whole rounds are inside of the part; and as the caller promises.
            unsafe {
                let chunks = row.chunks::<CHUNKS, N>(first + rank * (CHUNKS * N) as u32);
                value = self.reduce_round(value, chunks.as_flattened(), f);
            }
        }
        let mut rounds = Rounds::of(many.rest(), self.count * N as u32);
        while let Some(first) = rounds.next_whole() {
            // SAFETY: as above.
            unsafe {
                let chunks = row.chunks::<1, N>(first + rank * N as u32);
                value = self.reduce_round(value, chunks.as_flattened(), f);
            }
        }
        while let Some(left) = rounds.next_rest(self.count) {
            // SAFETY: the index is that of an element of the part: of the last one, where the lane has none.
            let item = unsafe { row.get(part.end - left.saturating_sub(rank).max(1)) };
            // SAFETY: as the caller promises.
            let item = unsafe { self.reduce_lanes(item, left, f) };
            if rank == 0 && left > 0 {
                value = Some(after(value, item, f));
            }
        }
        value
    }

    /// Combines what rounds before have made with the items of each lane, of which there is one at least; the first lane has the result.
    ///
    /// # Safety
    /// As of [`reduce`](Self::reduce).
    #[inline(always)]
    unsafe fn reduce_round<T: Copy>(
        self,
        value: Option<T>,
        items: &[T],
        f: &impl Fn(T, T) -> T,
    ) -> Option<T> {
        let mut item = items[0];
        // One thread goes one after another, which functions that are not associative ask for.
        if self.count == 1 {
            item = after(value, item, f);
        }
        for &next in &items[1..] {
            item = f(item, next);
        }
        if self.count == 1 {
            return Some(item);
        }
        // SAFETY: as the caller promises.
        let item = unsafe { self.reduce_lanes(item, self.count, f) };
        if self.rank() == 0 { Some(after(value, item, f)) } else { value }
    }

    /// Combines the items of the first lanes of the group, so many or all; the first one gets the result.
    ///
    /// # Safety
    /// As of [`reduce`](Self::reduce).
    #[inline]
    unsafe fn reduce_lanes<T: Copy>(self, mut item: T, items: u32, f: &impl Fn(T, T) -> T) -> T {
        let rank = self.rank();
        let mut distance = 1;
        while distance < self.count {
            // SAFETY: as the caller promises.
            let right = unsafe {
                pass(item, |word| __gpukernel_pass_down(word, distance, self.segments() | (self.count - 1)))
            };
            // With no others than those that the result is made of: `f` may panic.
            if rank & (2 * distance - 1) == 0 && rank + distance < items {
                item = f(item, right);
            }
            distance *= 2;
        }
        item
    }

    /// Sets each element of a part to what `before` and the elements up to it are combined to.
    ///
    /// # Safety
    /// As of [`reduce`](Self::reduce).
    #[inline(always)]
    pub(in crate::elementwise) unsafe fn accumulate<T: Copy>(
        self,
        part: Part,
        before: Option<T>,
        row: &impl RowMut<T>,
        f: &impl Fn(T, T) -> T,
    ) {
        // SAFETY: as the caller promises.
        unsafe {
            match size_of::<T>() {
                0..=4 => self.accumulate_chunks::<T, 4>(part, before, row, f),
                5..=8 => self.accumulate_chunks::<T, 2>(part, before, row, f),
                _ => self.accumulate_chunks::<T, 1>(part, before, row, f),
            }
        }
    }

    /// In rounds of a chunk of `N` elements for each lane, and then of an element for each.
    ///
    /// # Safety
    /// As of [`reduce`](Self::reduce).
    #[inline(always)]
    unsafe fn accumulate_chunks<T: Copy, const N: usize>(
        self,
        part: Part,
        mut before: Option<T>,
        row: &impl RowMut<T>,
        f: &impl Fn(T, T) -> T,
    ) {
        let rank = self.rank();
        let mut rounds = Rounds::of(part, self.count * N as u32);
        let own = |first| first + rank * N as u32;
        // SAFETY: whole rounds are inside of the part.
        rounds.for_each_whole(
            |first| unsafe { row.chunks(own(first)) },
            |first, [mut items]: [[T; N]; 1]| {
                // As in a reduction.
                if let Some(before) = before.filter(|_| self.count == 1) {
                    items[0] = f(before, items[0]);
                }
                for k in 1..N {
                    items[k] = f(items[k - 1], items[k]);
                }
                let of_lanes = match self.count {
                    1 => None,
                    // SAFETY: as the caller promises.
                    _ => unsafe { self.accumulate_lanes(before, items[N - 1], self.count, f) },
                };
                if let Some(before) = of_lanes {
                    for item in &mut items {
                        *item = f(before, *item);
                    }
                }
                // SAFETY: as above; and as the caller promises.
                unsafe {
                    row.set_chunk(own(first), items);
                    before = Some(self.last(items[N - 1]));
                }
            },
        );
        while let Some(left) = rounds.next_rest(self.count) {
            let index = part.end - left.saturating_sub(rank).max(1);
            // SAFETY: the index is that of an element of the part: of the last one, where the lane has none.
            let mut item = unsafe { row.get(index) };
            // SAFETY: as the caller promises.
            let of_lanes = unsafe { self.accumulate_lanes(before, item, left, f) };
            if rank < left {
                if let Some(before) = of_lanes {
                    item = f(before, item);
                }
                // SAFETY: as above.
                unsafe { row.set(index, item) };
            }
            // Where the last lane has no element, nothing follows.
            // SAFETY: as the caller promises.
            before = Some(unsafe { self.last(item) });
        }
    }

    /// Returns what `before` and the items of the lanes of the group before the calling one are combined to, of the first lanes, so many or all.
    ///
    /// # Safety
    /// As of [`reduce`](Self::reduce).
    #[inline]
    unsafe fn accumulate_lanes<T: Copy>(
        self,
        before: Option<T>,
        mut item: T,
        items: u32,
        f: &impl Fn(T, T) -> T,
    ) -> Option<T> {
        if self.count == 1 {
            return before;
        }
        let rank = self.rank();
        // SAFETY: as the caller promises.
        let up = |item, by| unsafe { pass(item, |word| __gpukernel_pass_up(word, by, self.segments())) };
        let mut distance = 1;
        while distance < self.count {
            let left = up(item, distance);
            if rank >= distance && rank < items {
                item = f(left, item);
            }
            distance *= 2;
        }
        let left = up(item, 1);
        match before {
            _ if rank >= items => None,
            Some(before) if rank > 0 => Some(f(before, left)),
            None if rank > 0 => Some(left),
            before => before,
        }
    }

    /// Returns the item of the last lane of the group.
    ///
    /// # Safety
    /// As of [`reduce`](Self::reduce).
    #[inline(always)]
    unsafe fn last<T: Copy>(self, item: T) -> T {
        if self.count == 1 {
            return item;
        }
        let last = self.count - 1;
        // SAFETY: as the caller promises.
        unsafe { pass(item, |word| __gpukernel_pass_index(word, last, self.segments() | last)) }
    }

    /// The bits of a lane's index that select its group, as an operand of shuffles (PTX ISA, `shfl.sync`).
    #[inline(always)]
    fn segments(self) -> u32 {
        (WARP_SIZE - self.count) << 8
    }
}

/// What an item and what is in front of it are combined to.
#[inline(always)]
fn after<T>(value: Option<T>, item: T, f: &impl Fn(T, T) -> T) -> T {
    match value {
        Some(value) => f(value, item),
        None => item,
    }
}

/// The rounds in which a group goes through a part: as many in all lanes of a warp.
struct Rounds {
    next: u32,
    end: u32,
    width: u32,
    whole: u32,
    /// What is not more than what any group of the warp has left after the whole rounds, and what is not less.
    rest: [u32; 2],
}

impl Rounds {
    #[inline(always)]
    fn of(Part { start, end, lengths: [shortest, longest] }: Part, width: u32) -> Self {
        let whole = shortest / width;
        Self { next: start, end, width, whole, rest: [shortest, longest].map(|len| len - whole * width) }
    }

    /// Returns the first index of the next round whose elements are all there.
    #[inline(always)]
    fn next_whole(&mut self) -> Option<u32> {
        self.whole = self.whole.checked_sub(1)?;
        let first = self.next;
        self.next = first.wrapping_add(self.width);
        Some(first)
    }

    /// Returns what is left after the whole rounds.
    #[inline(always)]
    fn rest(&self) -> Part {
        Part { start: self.next, end: self.end, lengths: self.rest }
    }

    /// Calls `f` with the first index of each round whose elements are all there, and what `load` returned for it, which is called two rounds earlier: so more loads
    /// are under way, also where stores come between them.
    #[inline(always)]
    fn for_each_whole<C: Copy>(&mut self, load: impl Fn(u32) -> C, mut f: impl FnMut(u32, C)) {
        let load_next = |rounds: &mut Self| rounds.next_whole().map(|first| (first, load(first)));
        let mut round = load_next(self);
        let mut next = load_next(self);
        while let Some((first, items)) = round {
            round = next;
            next = load_next(self);
            f(first, items);
        }
    }

    /// Returns how many elements are left for a round of an element for each of so many lanes, which may be none. After the whole rounds.
    #[inline(always)]
    fn next_rest(&mut self, lanes: u32) -> Option<u32> {
        let [_, rest] = &mut self.rest;
        if *rest == 0 {
            return None;
        }
        *rest = rest.saturating_sub(lanes);
        let left = self.end - self.next;
        self.next += left.min(lanes);
        Some(left)
    }
}

/// Returns the value of another lane, whose words `word` returns for those of the calling one.
///
/// # Safety
/// Any bytes are a value of the type.
#[inline(always)]
unsafe fn pass<T: Copy>(value: T, word: impl Fn(MaybeUninit<u32>) -> MaybeUninit<u32>) -> T {
    let mut passed = MaybeUninit::<T>::uninit();
    let (from, to) = ((&raw const value).cast::<u8>(), passed.as_mut_ptr().cast::<u8>());
    let mut at = 0;
    while at < size_of::<T>() {
        let bytes = (size_of::<T>() - at).min(4);
        let mut own = MaybeUninit::<u32>::uninit();
        // SAFETY: so many bytes of the value, and of the result, start there; a word has four.
        unsafe {
            from.add(at).copy_to_nonoverlapping(own.as_mut_ptr().cast(), bytes);
            let other = word(own);
            to.add(at).copy_from_nonoverlapping(other.as_ptr().cast(), bytes);
        }
        at += bytes;
    }
    // SAFETY: all bytes are those of a value of another lane, or any if that has ended.
    unsafe { passed.assume_init() }
}
