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
    barrier(&phase);
    // SAFETY: the barrier is between the phases.
    unsafe { phase.after_barrier() }
}

#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn barrier<P: Phase>(_: &P) {
    unsafe extern "C" {
        safe fn __gpukernel_barrier();
    }
    __gpukernel_barrier();
}

#[cfg(not(target_arch = "nvptx64"))]
#[track_caller]
fn barrier<P: Phase>(phase: &P) {
    let barrier = Barrier { place: core::panic::Location::caller(), arrays: phase.arrays() };
    crate::host::current().block.barrier_at(barrier);
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
