//! Copies on their way, and what has arrived.

use core::{fmt, mem::ManuallyDrop, ptr};

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::Barrier;
use crate::{
    async_copy::{Source, Stage, copy},
    shared::barrier::{self, Phase},
};

/// A staged array with copies on their way into it. The source stays borrowed until they have arrived.
///
/// If it is dropped, the thread waits for its copies.
#[must_use = "what was copied can be read after `wait` and `sync`"]
pub struct PendingCopy<'s, S> {
    stage: ManuallyDrop<S>,
    source: Source<'s>,
}

impl<'s, S> PendingCopy<'s, S> {
    /// With copies from a source that is borrowed for `'s`.
    #[inline(always)]
    pub(super) fn new(stage: S) -> Self {
        Self { stage: ManuallyDrop::new(stage), source: Source::default() }
    }

    /// Waits until what the calling thread copies has arrived. [`sync`](crate::sync) then waits for the other threads.
    #[inline(always)]
    pub fn wait(self) -> Ready<S> {
        copy::wait_for_all();
        Ready { stage: self.into_stage() }
    }

    /// Both as one, to be waited for at once.
    #[inline(always)]
    pub fn and<T>(self, other: PendingCopy<'s, T>) -> PendingCopy<'s, (S, T)> {
        PendingCopy::new((self.into_stage(), other.into_stage()))
    }

    /// The stage, while copies may be on their way.
    #[inline(always)]
    pub(super) fn into_stage(self) -> S {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used after it.
        unsafe { ptr::read(&*this.stage) }
    }
}

impl<S> Ready<S> {
    /// What the thread has waited for.
    #[inline(always)]
    pub(super) fn new(stage: S) -> Self {
        Self { stage }
    }
}

impl<S> Drop for PendingCopy<'_, S> {
    #[inline(always)]
    fn drop(&mut self) {
        // What comes after may be the end of the block, whose memory goes to another one. Stages have no destructor.
        copy::wait_for_all();
    }
}

impl<S> fmt::Debug for PendingCopy<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCopy").finish_non_exhaustive()
    }
}

/// A staged array into which the calling thread's copies have arrived, but not yet those of its peers: [`sync`](crate::sync)
/// makes it a view.
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
