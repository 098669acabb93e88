//! Copies in flight, and completed ones.

use core::{fmt, mem::ManuallyDrop, ptr};

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::Barrier;
use crate::{
    async_copy::{Source, Stage, copy},
    shared::barrier::{self, Phase},
};

/// An array with asynchronous copies in flight. The source stays borrowed until they are complete.
///
/// Dropping it waits for the copies of this thread.
#[must_use = "what was copied can be read after `wait` and `sync`"]
pub struct PendingCopy<'s, S> {
    stage: ManuallyDrop<S>,
    source: Source<'s>,
}

impl<'s, S> PendingCopy<'s, S> {
    /// Creates it for copies from a source that is borrowed for `'s`.
    #[inline(always)]
    pub(super) fn new(stage: S) -> Self {
        Self { stage: ManuallyDrop::new(stage), source: Source::default() }
    }

    /// Waits until the copies of the calling thread are complete (`cp.async.wait_all`, `__pipeline_wait_prior(0)`).
    /// [`sync`](crate::sync) then waits for the other threads.
    #[doc(alias = "__pipeline_wait_prior", alias = "__pipeline_commit")]
    #[doc(alias = "cp.async.wait_all", alias = "cp.async.wait_group")]
    #[inline(always)]
    pub fn wait(self) -> Ready<S> {
        copy::wait_for_all();
        Ready { stage: self.into_stage() }
    }

    /// Combines two copies, to wait for both together.
    #[inline(always)]
    pub fn and<T>(self, other: PendingCopy<'s, T>) -> PendingCopy<'s, (S, T)> {
        PendingCopy::new((self.into_stage(), other.into_stage()))
    }

    /// Returns the array while copies may still be in flight.
    #[inline(always)]
    pub(super) fn into_stage(self) -> S {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used after it.
        unsafe { ptr::read(&*this.stage) }
    }
}

impl<S> Ready<S> {
    /// Creates it from an array whose copies the thread has waited for.
    #[inline(always)]
    pub(super) fn new(stage: S) -> Self {
        Self { stage }
    }
}

impl<S> Drop for PendingCopy<'_, S> {
    #[inline(always)]
    fn drop(&mut self) {
        // The block may end afterwards, and its memory be given to another one. Stages have no destructor.
        copy::wait_for_all();
    }
}

impl<S> fmt::Debug for PendingCopy<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCopy").finish_non_exhaustive()
    }
}

/// An array into which the copies of the calling thread are complete, but those of the other threads may not be:
/// [`sync`](crate::sync) turns it into a view.
#[must_use = "`sync` makes it a view"]
pub struct Ready<S> {
    stage: S,
}

impl<S> fmt::Debug for Ready<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready").finish_non_exhaustive()
    }
}

impl<S: Stage> barrier::sealed::Phase for Ready<S> {}

impl<S: Stage> Phase for Ready<S> {
    type Next = S::View;

    #[inline(always)]
    unsafe fn after_barrier(self) -> S::View {
        // SAFETY: every thread waited for its own copies before the barrier; for the rest as the caller promises.
        unsafe { self.stage.after_barrier() }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn arrays(&self) -> u64 {
        Barrier::and(self.stage.arrays(), 3)
    }
}
