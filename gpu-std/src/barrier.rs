//! The barrier of a block, and what passes through it.

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::Barrier;

/// Waits until every thread of the block is here, and passes ownership of shared arrays on.
///
/// What it is given decides which phase follows: a [`Shared`](crate::Shared) array, of which each thread writes its own
/// elements, becomes one of which every thread reads every element, and the other way round. Several go in a tuple; `()`
/// is the bare barrier. All writes before it, to any memory, are seen by the threads of the block after it.
///
/// Every thread of the block that still runs must come to the same call, with arrays in the same phase: see
/// [Not enforced](crate#not-enforced).
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// Turns round every 256 elements.
/// #[kernel(block = 256)]
/// pub fn reverse_each_block(x: &[f32], y: PerThread<f32>, mut part: Shared<f32, 256>) {
///     let first = block_index().x as usize * 256;
///     for (i, element) in &mut part {
///         *element = x.get(first + i).copied().unwrap_or(0.0);
///     }
///     let part = sync(part);
///     for (i, y) in y {
///         *y = part[255 - i % 256];
///     }
/// }
/// ```
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync<P: Phase>(phase: P) -> P::Next {
    operations::barrier(&phase);
    // SAFETY: the barrier is between the phases.
    unsafe { phase.after_barrier() }
}

/// [`sync`], and how many threads of the block that still run say yes.
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// The number of elements above a limit, per block.
/// #[kernel(block = 256)]
/// pub fn count_above(limit: f32, x: &[f32], counts: &[Atomic<u32>]) {
///     let above = x.get(global_rank()).is_some_and(|&x| x > limit);
///     let ((), count) = sync_count((), above);
///     if thread_rank() == 0 {
///         counts[block_index().x as usize].store(count);
///     }
/// }
/// ```
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_count<P: Phase>(phase: P, vote: bool) -> (P::Next, u32) {
    let count = operations::barrier_count(&phase, vote);
    // SAFETY: the barrier is between the phases.
    (unsafe { phase.after_barrier() }, count)
}

/// [`sync`], and whether all threads of the block that still run say yes.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_all<P: Phase>(phase: P, vote: bool) -> (P::Next, bool) {
    let all = operations::barrier_all(&phase, vote);
    // SAFETY: the barrier is between the phases.
    (unsafe { phase.after_barrier() }, all)
}

/// [`sync`], and whether any thread of the block says yes.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_any<P: Phase>(phase: P, vote: bool) -> (P::Next, bool) {
    let any = operations::barrier_any(&phase, vote);
    // SAFETY: the barrier is between the phases.
    (unsafe { phase.after_barrier() }, any)
}

/// Waits until every thread of the grid is here. All writes before it, to device memory, are seen by all threads after it.
///
/// A kernel that calls it is launched so that all its blocks run at once, which limits how many there can be: a launch of more
/// is an error ([`Error::GridNotResident`] of the runtime). So is a kernel that calls any function pointer or trait object, if one of the
/// program's leads here. Every thread of the grid must come to the same call: see
/// [Not enforced](crate#not-enforced).
///
/// [`Error::GridNotResident`]: https://docs.rs/gpukernel
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// Each thread adds its number, and all see the whole sum.
/// #[kernel]
/// pub fn sum_seen_by_all(sum: &[Atomic<u32>], seen: PerThread<u32>) {
///     sum[0].fetch_add(global_rank() as u32);
///     sync_grid();
///     for (_, seen) in seen {
///         *seen = sum[0].load();
///     }
/// }
/// ```
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_grid() {
    operations::grid_barrier();
}

#[cfg(target_arch = "nvptx64")]
mod operations {
    use super::Phase;

    unsafe extern "C" {
        safe fn __gpukernel_barrier();
        safe fn __gpukernel_barrier_count(vote: u32) -> u32;
        safe fn __gpukernel_barrier_all(vote: u32) -> u32;
        safe fn __gpukernel_barrier_any(vote: u32) -> u32;
        safe fn __gpukernel_grid_barrier();
    }

    #[inline(always)]
    pub(super) fn grid_barrier() {
        __gpukernel_grid_barrier();
    }

    #[inline(always)]
    pub(super) fn barrier<P: Phase>(_: &P) {
        __gpukernel_barrier();
    }

    #[inline(always)]
    pub(super) fn barrier_count<P: Phase>(_: &P, vote: bool) -> u32 {
        __gpukernel_barrier_count(u32::from(vote))
    }

    #[inline(always)]
    pub(super) fn barrier_all<P: Phase>(_: &P, vote: bool) -> bool {
        __gpukernel_barrier_all(u32::from(vote)) != 0
    }

    #[inline(always)]
    pub(super) fn barrier_any<P: Phase>(_: &P, vote: bool) -> bool {
        __gpukernel_barrier_any(u32::from(vote)) != 0
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod operations {
    use core::panic::Location;

    use super::{Barrier, Phase};
    use crate::host::{Votes, current};

    #[track_caller]
    pub(super) fn grid_barrier() {
        current().block.grid_barrier(Location::caller());
    }

    #[track_caller]
    fn votes<P: Phase>(phase: &P, vote: bool) -> Votes {
        let barrier = Barrier { place: Location::caller(), arrays: phase.arrays() };
        current().block.barrier(barrier, vote)
    }

    #[track_caller]
    pub(super) fn barrier<P: Phase>(phase: &P) {
        votes(phase, false);
    }

    #[track_caller]
    pub(super) fn barrier_count<P: Phase>(phase: &P, vote: bool) -> u32 {
        votes(phase, vote).yes
    }

    #[track_caller]
    pub(super) fn barrier_all<P: Phase>(phase: &P, vote: bool) -> bool {
        let Votes { yes, voters } = votes(phase, vote);
        yes == voters
    }

    #[track_caller]
    pub(super) fn barrier_any<P: Phase>(phase: &P, vote: bool) -> bool {
        votes(phase, vote).yes != 0
    }
}

/// What [`sync`] takes: shared arrays in one of their two phases, tuples of them, and `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot pass a barrier",
    label = "neither a shared array nor a tuple of them",
    note = "`sync` takes `()`, a shared array by value, what `sync` made of one, or a tuple of those",
    note = "copies that are on their way into a staged array are waited for first: `sync(pending.wait())`"
)]
pub trait Phase: sealed::Phase {
    /// What it is after the barrier.
    type Next;

    /// The same values after the barrier.
    ///
    /// # Safety
    /// The calling thread passed a barrier of its block together with all threads that use the same arrays, since when `self`
    /// was not used.
    #[doc(hidden)]
    unsafe fn after_barrier(self) -> Self::Next;

    /// What [`Barrier::arrays`] is for this value.
    #[cfg(not(target_arch = "nvptx64"))]
    #[doc(hidden)]
    fn arrays(&self) -> u64;
}

pub(crate) mod sealed {
    pub trait Phase {}
}

macro_rules! tuples {
    ($($(#[$attribute:meta])* ($($name:ident)*))*) => {$(
        impl<$($name: Phase),*> sealed::Phase for ($($name,)*) {}

        $(#[$attribute])*
        impl<$($name: Phase),*> Phase for ($($name,)*) {
            type Next = ($($name::Next,)*);

            #[inline(always)]
            unsafe fn after_barrier(self) -> Self::Next {
                #[allow(non_snake_case)]
                let ($($name,)*) = self;
                // SAFETY: the caller's promise holds for each.
                ($(unsafe { $name.after_barrier() },)*)
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn arrays(&self) -> u64 {
                #[allow(non_snake_case)]
                let ($($name,)*) = self;
                let arrays = 0;
                $(let arrays = Barrier::and(arrays, $name.arrays());)*
                arrays
            }
        }
    )*};
}

tuples! {
    #[allow(clippy::unused_unit)]
    ()
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
}
