//! Several copies on their way, one behind the other.

use core::{
    fmt,
    mem::{self, ManuallyDrop},
    ptr,
};

use super::{PendingCopy, Ready, copy};

/// `N` stages with copies on their way, oldest first. The thread waits for the oldest while the others go on.
///
/// With one stage more than the pipeline holds, one barrier per round is enough: it makes the oldest stage readable for all
/// threads and the one that was read in the round before writable again.
///
/// ```
/// use gpu_std::prelude::{*, async_copy::*};
///
/// /// Three stages: two on their way while one is read.
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
#[must_use = "copies are on their way"]
pub struct Pipeline<'s, S, const N: usize> {
    /// The copies of each are in a group that was committed before those of the next, or earlier.
    stages: [PendingCopy<'s, S>; N],
}

impl<'s, S, const N: usize> Pipeline<'s, S, N> {
    /// Starts with these stages, by calling `copy` for each in order with its place.
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

    /// Waits until what the calling thread copied into the oldest stage has arrived.
    ///
    /// Returns that stage, for [`sync`](crate::sync), and the rest, in which there is room for another.
    #[inline(always)]
    pub fn wait(self) -> (Ready<S>, PipelineRest<'s, S, N>) {
        match N {
            1 => copy::wait::<0>(),
            2 => copy::wait::<1>(),
            3 => copy::wait::<2>(),
            // After the oldest of four and more, three groups have been committed at least.
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

/// A [`Pipeline`] whose oldest stage was taken out: the other `N - 1` are on their way.
#[must_use = "copies are on their way"]
pub struct PipelineRest<'s, S, const N: usize> {
    /// The first was moved out.
    stages: ManuallyDrop<[PendingCopy<'s, S>; N]>,
}

impl<'s, S, const N: usize> PipelineRest<'s, S, N> {
    /// Adds a stage as the newest.
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
