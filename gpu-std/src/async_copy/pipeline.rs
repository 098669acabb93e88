//! Multi-stage pipelines of asynchronous copies (`cuda::pipeline`).

use core::{
    fmt,
    mem::{self, ManuallyDrop},
    ptr,
};

use super::{PendingCopy, Ready, copy};

/// A pipeline of `N` stages with asynchronous copies in flight, oldest first (`cuda::pipeline`). The thread waits for the
/// oldest while the others continue.
///
/// With one array more than the pipeline holds, one barrier per round is enough: it makes the oldest stage readable for all
/// threads, and the one that was read in the round before writable again.
///
/// ```
/// use gpu_std::prelude::{*, async_copy::*};
///
/// /// Three arrays: two with copies in flight while one is read.
/// #[kernel(block = 32)]
/// pub fn total(
///     x: &[u32],
///     sum: &[Atomic<u32>],
///     first: AsyncShared<u32, 512>,
///     second: AsyncShared<u32, 512>,
///     third: AsyncShared<u32, 512>,
/// ) {
///     let part = |i: usize| x.get(i * 512..).unwrap_or_default();
///     let mut pipeline = Pipeline::start([first, second], |i, stage| stage.copy_async(part(i)));
///     let mut free = sync(third);
///     for i in 0..x.len().div_ceil(512) {
///         let (arrived, rest) = pipeline.wait();
///         let (view, stage) = sync((arrived, free));
///         pipeline = rest.push(stage.copy_async(part(i + 2)));
///         for j in (thread_rank() as usize..512).step_by(32) {
///             sum[0].fetch_add(view[j]);
///         }
///         free = view;
///     }
/// }
/// ```
#[doc(alias = "cuda::pipeline", alias = "__pipeline_commit")]
#[doc(alias = "__pipeline_wait_prior")]
#[must_use = "copies are on their way"]
pub struct Pipeline<'s, S, const N: usize> {
    /// Each copy is in a group that was committed before those of the following stages, or earlier.
    stages: [PendingCopy<'s, S>; N],
}

impl<'s, S, const N: usize> Pipeline<'s, S, N> {
    /// Starts a pipeline with these stages: calls `copy` for each in order, with its index.
    #[doc(alias = "__pipeline_commit", alias = "cp.async.commit_group")]
    #[inline(always)]
    pub fn start(stages: [S; N], mut copy: impl FnMut(usize, S) -> PendingCopy<'s, S>) -> Self {
        const { assert!(N > 0, "a pipeline has at least one stage") };
        let mut index = 0;
        let stages = stages.map(|stage| {
            let pending = copy(index, stage);
            copy::commit();
            index += 1;
            pending
        });
        Self { stages }
    }

    /// Waits until the copies of the calling thread into the oldest stage are complete (`cp.async.wait_group`,
    /// `__pipeline_wait_prior`).
    ///
    /// Returns that stage, for [`sync`](crate::sync), and the rest, which has room for another.
    #[doc(alias = "consumer_wait", alias = "__pipeline_wait_prior")]
    #[doc(alias = "cp.async.wait_group")]
    #[inline(always)]
    pub fn wait(self) -> (Ready<S>, PipelineRest<'s, S, N>) {
        match N {
            1 => copy::wait::<0>(),
            2 => copy::wait::<1>(),
            3 => copy::wait::<2>(),
            // With four stages or more, at least three groups have been committed after the oldest.
            _ => copy::wait::<3>(),
        }
        let stages = ManuallyDrop::new(self.stages);
        // SAFETY: the oldest is not used there again: `PipelineRest` sees to it.
        let oldest = unsafe { ptr::read(&stages[0]) };
        (Ready::new(oldest.into_stage()), PipelineRest { stages })
    }
}

impl<S, const N: usize> fmt::Debug for Pipeline<'_, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("stages", &N).finish_non_exhaustive()
    }
}

/// A [`Pipeline`] without its oldest stage: the copies into the other `N - 1` are in flight.
#[must_use = "copies are on their way"]
pub struct PipelineRest<'s, S, const N: usize> {
    /// The first was moved out.
    stages: ManuallyDrop<[PendingCopy<'s, S>; N]>,
}

impl<'s, S, const N: usize> PipelineRest<'s, S, N> {
    /// Appends a stage as the newest (`__pipeline_commit`).
    #[doc(alias = "__pipeline_commit", alias = "producer_commit")]
    #[inline(always)]
    pub fn push(self, newest: PendingCopy<'s, S>) -> Pipeline<'s, S, N> {
        copy::commit();
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used after it; the oldest, of which this makes a second one, is forgotten below.
        let mut stages = unsafe { ptr::read(&*this.stages) };
        mem::forget(mem::replace(&mut stages[0], newest));
        for i in 1..N {
            stages.swap(i - 1, i);
        }
        Pipeline { stages }
    }
}

impl<S, const N: usize> Drop for PipelineRest<'_, S, N> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: all but the first are here, and nobody uses them after this.
        unsafe { ptr::drop_in_place(&mut self.stages[1..]) };
    }
}

impl<S, const N: usize> fmt::Debug for PipelineRest<'_, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipelineRest").field("stages", &N).finish_non_exhaustive()
    }
}
