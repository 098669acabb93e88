//! Barriers of a block (CUDA's `__syncthreads`, `__syncthreads_count`, `_and`, `_or`) and of the grid.

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::Barrier;

/// Waits for all threads of the block (CUDA's `__syncthreads()`), and takes shared arrays to their next phase.
///
/// A [`Shared`](crate::Shared) array, in which each thread accesses its own elements, becomes a view in which every thread
/// reads every element, and vice versa. Several arrays are passed as a tuple; `sync(())` is the barrier alone. Writes before
/// the barrier, to any memory, are visible to the threads of the block after it.
///
/// All threads of the block that have not ended must reach the same call, with arrays in the same phase: see
/// [Not enforced](crate#not-enforced). It does not wait for threads that have ended; on the CPU device with `GPUKERNEL_CHECK=1` one that has
/// ended is an error.
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// Reverses each 256 elements.
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
#[doc(alias = "__syncthreads", alias = "syncthreads")]
#[doc(alias = "cuda.syncthreads", alias = "this_thread_block")]
#[doc(alias = "bar.sync", alias = "barrier")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync<P: Phase>(phase: P) -> P::Next {
    operations::barrier(&phase);
    // SAFETY: the barrier is between the phases.
    unsafe { phase.after_barrier() }
}

/// Waits like [`sync`] and also returns the number of threads that pass `true` (CUDA's `__syncthreads_count()`, PTX's
/// `bar.red.popc`). Threads that have ended do not count.
///
/// ```
/// use gpu_std::prelude::{*, collective::*};
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
#[doc(alias = "__syncthreads_count", alias = "syncthreads_count")]
#[doc(alias = "cuda.syncthreads_count", alias = "bar.red.popc")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_count<P: Phase>(phase: P, vote: bool) -> (P::Next, u32) {
    let count = operations::barrier_count(&phase, vote);
    // SAFETY: the barrier is between the phases.
    (unsafe { phase.after_barrier() }, count)
}

/// Waits like [`sync`] and also returns whether all threads pass `true` (CUDA's `__syncthreads_and()`, PTX's `bar.red.and`).
/// Threads that have ended do not count.
#[doc(alias = "__syncthreads_and", alias = "syncthreads_and")]
#[doc(alias = "cuda.syncthreads_and", alias = "bar.red.and")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_all<P: Phase>(phase: P, vote: bool) -> (P::Next, bool) {
    let all = operations::barrier_all(&phase, vote);
    // SAFETY: the barrier is between the phases.
    (unsafe { phase.after_barrier() }, all)
}

/// Waits like [`sync`] and also returns whether any thread passes `true` (CUDA's `__syncthreads_or()`, PTX's `bar.red.or`).
/// Threads that have ended do not count.
#[doc(alias = "__syncthreads_or", alias = "syncthreads_or")]
#[doc(alias = "cuda.syncthreads_or", alias = "bar.red.or")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_any<P: Phase>(phase: P, vote: bool) -> (P::Next, bool) {
    let any = operations::barrier_any(&phase, vote);
    // SAFETY: the barrier is between the phases.
    (unsafe { phase.after_barrier() }, any)
}

/// Waits for all threads of the grid (cooperative groups' `this_grid().sync()`). Writes before the barrier, to device memory,
/// are visible to all threads after it.
///
/// A kernel that calls it is launched cooperatively: all its blocks run at once, which limits their number. A launch of more
/// is an error ([`Error::GridNotResident`] of the runtime). The same applies to a kernel that calls any function pointer or trait object,
/// if one of the program's leads here. All threads of the grid must reach the same call, and none may have ended: see
/// [Not enforced](crate#not-enforced). On the
/// CPU device, a destructor that runs during a panic waits for the threads of its cluster only: those of other blocks may have ended.
///
/// [`Error::GridNotResident`]: https://docs.rs/gpukernel
///
/// ```
/// use gpu_std::prelude::{*, cluster::*};
///
/// /// Each thread adds its rank, and all threads see the whole sum.
/// #[kernel]
/// pub fn sum_seen_by_all(sum: &[Atomic<u32>], seen: PerThread<u32>) {
///     sum[0].fetch_add(global_rank() as u32);
///     sync_grid();
///     for (_, seen) in seen {
///         *seen = sum[0].load();
///     }
/// }
/// ```
#[doc(alias = "this_grid", alias = "grid_group", alias = "grid.sync")]
#[doc(alias = "cuda.cg.this_grid")]
#[doc(alias = "cudaLaunchCooperativeKernel")]
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

/// A value that [`sync`] takes: a shared array in one of its phases, a tuple of such values, or `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot pass a barrier",
    label = "neither a shared array nor a tuple of them",
    note = "`sync` takes `()`, a shared array by value, what `sync` made of one, or a tuple of those",
    note = "wait first for asynchronous copies into an `AsyncShared` array: `sync(pending.wait())`"
)]
pub trait Phase: sealed::Phase {
    /// The value after the barrier.
    type Next;

    /// Returns the value for the phase after the barrier.
    ///
    /// # Safety
    /// The calling thread has passed a barrier of its block together with all threads that use the same arrays, and has not
    /// used `self` since.
    #[doc(hidden)]
    unsafe fn after_barrier(self) -> Self::Next;

    /// Returns [`Barrier::arrays`] for this value.
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
