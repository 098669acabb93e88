//! Reductions: `sum`, `reduce` and others, computed by one kernel. Each thread combines what it visits, each block its threads, and the last block to
//! finish the results of all.

use super::{End, EndsIn, ParallelIterator, Position, Refusal, Scalar, Size, collect::size};
use crate::{
    Atomic, BlockScratch, DeviceCopy, UnsafeSlice, block_rank, blocks_per_grid,
    collective::{Operator, Room, from_room, is_last_block, to_room},
    global_rank, thread_rank, threads_per_block, threads_per_grid,
    warp::WarpElement,
};

/// What is made of the result of a reduction.
pub trait Finish<T> {
    /// What it is made to.
    type Output;

    /// Makes it.
    #[doc(hidden)]
    fn finish(&self, result: T) -> Self::Output;
}

/// The result as it is.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Whole;

impl<T> Finish<T> for Whole {
    type Output = T;

    #[inline(always)]
    fn finish(&self, result: T) -> T {
        result
    }
}

/// The result divided by a number.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Divide<T> {
    pub(super) by: T,
}

impl<T: Copy + core::ops::Div<Output = T>> Finish<T> for Divide<T> {
    type Output = T;

    #[inline(always)]
    fn finish(&self, result: T) -> T {
        result / self.by
    }
}

/// Whether the result is not 0.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct NotZero;

impl Finish<u32> for NotZero {
    type Output = bool;

    #[inline(always)]
    fn finish(&self, result: u32) -> bool {
        result != 0
    }
}

/// What a function makes of what another makes of the result.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Then<F, G> {
    first: F,
    then: G,
}

impl<F, G> Then<F, G> {
    #[inline(always)]
    pub(super) fn new(first: F, then: G) -> Self {
        Self { first, then }
    }
}

impl<T, U, F: Finish<T>, G: Fn(F::Output) -> U> Finish<T> for Then<F, G> {
    type Output = U;

    #[inline(always)]
    fn finish(&self, result: T) -> U {
        (self.then)(self.first.finish(result))
    }
}

super::debug! { Then<F, G>: first }

/// A reduction of all items of a pipeline to one value, such as [`sum`](ParallelIterator::sum): what a function that returns [`Scalar`] ends in.
///
/// ```
/// # use gpu_std::{pipeline::*, prelude::*};
/// #[pipeline]
/// pub fn energy(x: In<f32>) -> Scalar<f32> {
///     let sum = x.map(|v| v * v).sum();
///     sum.then(|sum| 0.5 * sum)
/// }
/// ```
pub struct Reduction<P: ParallelIterator, O, F> {
    pub(super) iter: P,
    pub(super) identity: P::Item,
    pub(super) operator: O,
    pub(super) finish: F,
}

impl<P: ParallelIterator, O, F: Finish<P::Item>> Reduction<P, O, F> {
    /// Computes `f` of the result, on the device.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn norm(x: In<f32>) -> Scalar<f32> {
    ///     x.map(|v| v * v).sum().then(|sum| sum.sqrt())
    /// }
    /// ```
    #[inline(always)]
    pub fn then<U, G: Fn(F::Output) -> U>(self, f: G) -> Reduction<P, O, Then<F, G>> {
        let Self { iter, identity, operator, finish } = self;
        Reduction { iter, identity, operator, finish: Then::new(finish, f) }
    }
}

impl<P: ParallelIterator + core::fmt::Debug, O, F> core::fmt::Debug for Reduction<P, O, F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reduction").field("iter", &self.iter).finish_non_exhaustive()
    }
}

/// What the kernel of a reduction takes besides its inputs.
#[doc(hidden)]
#[allow(missing_docs)]
#[derive(Debug)]
pub struct ReduceMemory<'k, U> {
    pub scratch: BlockScratch<'k, Room>,
    /// One for each block.
    pub parts: UnsafeSlice<'k, Room>,
    /// 0, before and after.
    pub arrived: &'k [Atomic<u32>],
    /// One.
    pub output: UnsafeSlice<'k, U>,
}

impl<U: DeviceCopy> End for Scalar<U> {
    type Memory<'k> = ReduceMemory<'k, U>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Args<'a, R: crate::host::Runtime> = crate::host::ReduceArgs<'a, R, U>;
}

impl<P, O, F> EndsIn<Scalar<F::Output>> for Reduction<P, O, F>
where
    P: ParallelIterator,
    P::Item: WarpElement,
    O: Operator<P::Item>,
    F: Finish<P::Item, Output: DeviceCopy>,
{
    fn size(&self) -> Result<Size, Refusal> {
        size(&self.iter)
    }

    #[inline(always)]
    unsafe fn run<const LANES: usize>(self, memory: ReduceMemory<'_, F::Output>) {
        let Self { iter, identity, operator, finish } = self;
        let ReduceMemory { mut scratch, parts, arrived, output } = memory;
        let (Some(arrived), true) = (arrived.first(), has_part_for_each_block(parts.len())) else { return };
        let value = reduce_thread::<LANES, _, _>(&iter, identity, &operator);
        let part = scratch.for_one().reduce_to_first(value, by(&operator));
        // SAFETY: each block writes its own part, and reads those of others after it has acquired what they released.
        let store = part.map(|part| move || unsafe { parts.set(block_rank(), to_room(part)) });
        if !is_last_block(arrived, store) {
            return;
        }
        // SAFETY: as above; all parts have been written.
        let part = |block| unsafe { from_room::<P::Item>(&parts.get(block)) };
        let result =
            own_parts(parts.len()).fold(identity, |result, block| operator.combine(result, part(block)));
        let result = scratch.for_one().reduce_to_first(result, by(&operator));
        if let (Some(result), false) = (result, output.is_empty()) {
            // SAFETY: one thread of the last block comes here.
            unsafe { output.set(0, finish.finish(result)) };
        }
    }
}

/// Whether so many parts are one for each block: what the host passes, said to the compiler.
#[inline(always)]
pub(super) fn has_part_for_each_block(parts: usize) -> bool {
    blocks_per_grid() <= parts && block_rank() < parts
}

/// The parts, of so many, that the calling thread combines in the last block: adjacent ones, so that their order is kept.
#[inline(always)]
pub(super) fn own_parts(parts: usize) -> core::ops::Range<usize> {
    let (rank, threads, blocks) = (thread_rank() as usize, threads_per_block() as usize, blocks_per_grid());
    (rank * blocks / threads).min(parts)..((rank + 1) * blocks / threads).min(parts)
}

/// An operator by reference.
#[inline(always)]
pub(super) fn by<T, O: Operator<T>>(operator: &O) -> By<'_, O> {
    By(operator)
}

pub(super) struct By<'a, O>(&'a O);

impl<T, O: Operator<T>> Operator<T> for By<'_, O> {
    #[inline(always)]
    fn combine(&self, first: T, second: T) -> T {
        self.0.combine(first, second)
    }

    #[inline(always)]
    fn combine_lanes(&self, lanes: u32, value: T) -> Option<T> {
        self.0.combine_lanes(lanes, value)
    }

    #[inline(always)]
    fn undo(&self, both: T, second: T) -> Option<T> {
        self.0.undo(both, second)
    }
}

/// So many chunks are loaded before their items are combined, so that enough bytes are on the way.
const UNROLL: usize = 4;

/// Combines the items that the calling thread visits: chunks of `LANES`, the chunks of all threads one after another.
#[inline(always)]
fn reduce_thread<const LANES: usize, P, O>(iter: &P, identity: P::Item, operator: &O) -> P::Item
where
    P: ParallelIterator,
    P::Item: WarpElement,
    O: Operator<P::Item>,
{
    let (positions, stride) = (iter.positions(), threads_per_grid());
    let whole = positions / LANES;
    let add = |sum, item| match item {
        Some(item) => operator.combine(sum, item),
        None => sum,
    };
    let (mut result, mut chunk) = (identity, global_rank());
    if iter.is_aligned::<LANES>() {
        while whole.saturating_sub(chunk) > (UNROLL - 1) * stride {
            // SAFETY: the last of these chunks is whole, and so are those before.
            let items: [[_; LANES]; UNROLL] =
                core::array::from_fn(|i| unsafe { iter.lanes((chunk + i * stride) * LANES) });
            result = items.into_iter().flatten().fold(result, add);
            chunk += UNROLL * stride;
        }
        while chunk < whole {
            // SAFETY: the chunk is whole.
            result = unsafe { iter.lanes::<LANES>(chunk * LANES) }.into_iter().fold(result, add);
            chunk += stride;
        }
    }
    while chunk * LANES < positions {
        for index in chunk * LANES..positions.min((chunk + 1) * LANES) {
            // SAFETY: the index is below the number of positions.
            result = add(result, unsafe { iter.get(Position::at(index)) });
        }
        chunk += stride;
    }
    result
}
