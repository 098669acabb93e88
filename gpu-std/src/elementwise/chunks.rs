//! Contiguous outputs.

use core::{hint, marker::PhantomData};

#[cfg(not(target_arch = "nvptx64"))]
use super::past_caches;
use super::{MAX_LANES, SliceInputs, align_of_lanes, store};
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy, global_rank,
    param::{Param, WriteStart},
    signature::Text,
    thread::grid_stride::GridStride,
    threads_per_grid,
};

/// The elements of a slice that the calling thread owns: a chunk of `LANES` elements, and single ones. Each belongs to exactly one thread, whatever the size of the grid.
///
/// On a GPU, thread `i` of `n` owns chunk `i`, and of the elements that no chunk of a thread has those with the numbers `i`, `i + n`, `i + 2n`, … Launches have a thread for each chunk at
/// least, as `for_each(out.len().div_ceil(LANES))` and `for_each(out.len())` are: with fewer, elements go through memory one by one, which takes up to 1.6 times as long. On the CPU, where
/// a thread has a cache of its own, it owns chunks that follow each other. The launch passes `&mut` memory of `T`.
///
/// ```
/// use gpu_std::{elementwise::*, prelude::*};
///
/// #[kernel]
/// pub fn double(x: SliceOrScalar<f32>, out: PerThreadChunks<f32, 4>) {
///     out.map((x,), |(x,)| 2.0 * x);
/// }
/// ```
pub struct PerThreadChunks<'a, T, const LANES: usize> {
    start: *mut T,
    len: usize,
    lender: PhantomData<&'a mut [T]>,
}

impl<T: DeviceCopy, const LANES: usize> PerThreadChunks<'_, T, LANES> {
    /// Returns the number of elements, those of other threads included.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements, for any thread.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets each element that the thread owns to what `f` makes of the elements of the inputs at the same position. Where all memory is aligned,
    /// chunks are loaded and stored by one instruction each.
    ///
    /// # Panics
    /// If an input is a slice of fewer elements.
    #[inline(always)]
    #[track_caller]
    pub fn map<I: SliceInputs>(self, inputs: I, f: impl Fn(I::Items) -> T) {
        if !inputs.cover(self.len) {
            refuse(self.len)
        }
        let is_aligned =
            self.start.addr() & (align_of_lanes::<T, LANES>() - 1) == 0 && inputs.are_aligned::<LANES>();
        // SAFETY: they cover it, and are aligned if that says so.
        unsafe { self.map_covered(inputs, is_aligned, f) };
    }

    /// As [`map`](Self::map), without a look at lengths and addresses in each thread.
    ///
    /// # Safety
    /// All inputs are values, or slices of as many elements at least, and if `is_aligned`, addresses of output and slices are multiples of what
    /// [`align_of_lanes`] says of their elements.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn map_covered<I: SliceInputs>(self, inputs: I, is_aligned: bool, f: impl Fn(I::Items) -> T) {
        #[cfg(not(target_arch = "nvptx64"))]
        if threads_per_grid() < self.len.div_ceil(LANES) {
            return self.map_in_a_row(inputs, f);
        }
        let (thread, threads) = (global_rank(), threads_per_grid());
        let whole = self.len / LANES;
        // The first chunk is no round of a loop: what a loop computes in front of its rounds, a launch that takes microseconds waits for. Other rounds would be
        // further copies of `f` for each lane, and registers that all threads have less of.
        if thread < whole {
            let first = thread * LANES;
            // SAFETY: the chunk is inside of the output, and so of the inputs, which cover it; all of them are aligned if that says so. It is this thread's,
            // because threads have different chunks, and `self` is used up. What is loaded one by one is loaded before anything waits, as a vector is.
            unsafe {
                if is_aligned {
                    store(self.start.add(first), inputs.lanes::<LANES>(first).map(&f));
                } else {
                    // Behind the others in memory: what a short launch waits for is also the kernel's own code.
                    hint::cold_path();
                    let items: [I::Items; LANES] = core::array::from_fn(|lane| inputs.get(first + lane));
                    for (lane, item) in items.map(&f).into_iter().enumerate() {
                        self.start.add(first + lane).write(item);
                    }
                }
            }
        }
        // In this order: asked for the threads first, kernels had 6 to 10 registers more.
        if self.len.is_multiple_of(LANES) && threads >= whole {
            return;
        }
        hint::cold_path();
        let in_chunks = threads.min(whole) * LANES;
        for position in GridStride::new(in_chunks + thread, self.len, threads) {
            // SAFETY: as above, of a position behind all threads' chunks, which the loops of threads share.
            unsafe { self.start.add(position).write(f(inputs.get(position))) };
        }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl<T: DeviceCopy, const LANES: usize> PerThreadChunks<'_, T, LANES> {
    /// Where threads own several chunks: chunks that follow each other, as one loop, which rustc makes vectors of.
    #[inline(always)]
    fn map_in_a_row<I: SliceInputs>(self, inputs: I, f: impl Fn(I::Items) -> T) {
        let own = in_a_row(global_rank(), threads_per_grid(), self.len.div_ceil(LANES));
        let (mut first, end) = (own.start * LANES, self.len.min(own.end * LANES));
        let is_past_caches = past_caches::is_for::<T>(self.len);
        let mut block = past_caches::Block::new();
        let _fence = is_past_caches.then_some(past_caches::Fence);
        while first < end {
            // SAFETY: the position is inside of the output.
            let own = unsafe { self.start.add(first) };
            let (to, len) = match is_past_caches {
                true => (block.start(), past_caches::Block::len_at(own).min(end - first)),
                false => (own, end - first),
            };
            for i in 0..len {
                // SAFETY: the position is inside of the output, and so of the inputs, which cover it. It is this thread's, because threads have different
                // chunks, and `self` is used up. A block has room for as many elements as it says.
                unsafe { to.add(i).write(f(inputs.get(first + i))) };
            }
            if is_past_caches {
                // SAFETY: as many elements were written there as belong to the thread here.
                unsafe { block.store(own, len) };
            }
            first += len;
        }
    }
}

/// The chunks of a thread, which follow each other.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
pub(super) fn in_a_row(thread: usize, threads: usize, chunks: usize) -> core::ops::Range<usize> {
    let most = chunks.div_ceil(threads);
    // Less than the chunks and threads together, of which there are at most `isize::MAX` each.
    let start = chunks.min(thread * most);
    start..chunks.min(start + most)
}

#[cold]
#[inline(never)]
#[track_caller]
fn refuse(len: usize) -> ! {
    panic!("an input has fewer elements than the output, which has {len}")
}

impl<T, const LANES: usize> core::fmt::Debug for PerThreadChunks<'_, T, LANES> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PerThreadChunks").field("len", &self.len).finish_non_exhaustive()
    }
}

// SAFETY: `pack` takes memory that the runtime borrows exclusively for the launch, and each thread uses only the chunks that it owns.
unsafe impl<'k, T: DeviceCopy, const LANES: usize> Param<'k> for PerThreadChunks<'k, T, LANES> {
    type Head = WriteStart<'k, T>;
    type Tail = usize;

    const DIMS: u32 = {
        assert!(LANES > 0 && LANES <= MAX_LANES, "a chunk has 1 to 16 elements");
        1
    };
    const SIGNATURE: Text = Text::Of("PerThreadChunks", &[T::TYPE, Text::Number(LANES as i128)]);

    #[inline(always)]
    unsafe fn assemble(head: WriteStart<'k, T>, &len: &'k usize) -> Self {
        // SAFETY: no slice has more, by which sums of positions do not wrap round.
        unsafe { core::hint::assert_unchecked(len <= isize::MAX as usize / size_of::<T>().max(1)) };
        Self { start: head.as_mut_ptr(), len, lender: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = &'k mut R::Slice<T>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        args.push_slice(R::raw_slice(arg), Access::Write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chunk_is_of_one_thread() {
        for (threads, chunks) in [(1, 1), (1, 7), (2, 3), (3, 7), (7, 8), (8, 31), (100, 101), (6, 9)] {
            let mut next = 0;
            for thread in 0..threads {
                let own = in_a_row(thread, threads, chunks);
                assert!(own.start == next && own.end >= next, "{own:?} of {thread} of {threads}, {chunks}");
                next = own.end;
            }
            assert_eq!(next, chunks);
        }
    }
}
