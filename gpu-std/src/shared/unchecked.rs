//! A shared array without compile-time race freedom, accessed by `unsafe` code.

use core::marker::PhantomData;

use super::{KernelScope, SharedElement, SharedParam};
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Memory, Watch};
use crate::thread::unchecked::unchecked;

/// A shared array of `N` elements that every thread of the block may read and write at any time, like CUDA's `__shared__`:
/// the kernel has to rule out data races. For patterns that do not split into the phases of a [`Shared`](super::Shared)
/// array.
///
/// Elements start with arbitrary values. Accesses are `unsafe`, and their indices are checked. On the CPU device, with
/// `GPUKERNEL_CHECK=1` in the environment, a race is an error that names both threads and both source locations.
///
/// ```
/// use gpu_std::prelude::{*, memory::*};
///
/// /// Sums each 256 elements in a tree: each round halves the number of threads that add.
/// #[kernel(block = 256)]
/// pub fn sums(x: &[u32], totals: &[Atomic<u32>], part: UnsafeShared<u32, 256>) {
///     let me = thread_rank() as usize;
///     // SAFETY: each thread writes its own element, and in each round those below `half` read what is written only before the
///     // barrier.
///     unsafe {
///         part.set(me, x.get(global_rank()).copied().unwrap_or(0));
///         let mut half = 128;
///         while half > 0 {
///             sync(());
///             if me < half {
///                 part.set(me, part.get(me).wrapping_add(part.get(me + half)));
///             }
///             half /= 2;
///         }
///         if me == 0 {
///             totals[0].fetch_add(part.get(0));
///         }
///     }
/// }
/// ```
#[doc(alias = "__shared__", alias = "cuda.shared.array")]
#[doc(alias = "shared.array")]
pub struct UnsafeShared<'k, T, const N: usize> {
    start: *mut T,
    #[cfg(not(target_arch = "nvptx64"))]
    watch: Watch,
    scope: PhantomData<&'k mut [T; N]>,
}

unchecked! { UnsafeShared: [const N: usize] [N], elements are SharedElement, ": `N`" = |_memory| N }

#[cfg(not(target_arch = "nvptx64"))]
impl<T, const N: usize> UnsafeShared<'_, T, N> {
    /// What a race is reported as.
    const MEMORY: Memory = Memory::Shared;
}

// SAFETY: its elements are reached only by `get` and `set`, whose callers answer for races, and any bytes are a value.
unsafe impl<'k, T: SharedElement, const N: usize> SharedParam<'k> for UnsafeShared<'k, T, N> {
    type Element = T;
    const LEN: usize = N;

    #[inline(always)]
    unsafe fn enter(storage: *mut T, _: &'k KernelScope) -> Self {
        Self {
            start: storage,
            #[cfg(not(target_arch = "nvptx64"))]
            watch: Watch::new(),
            scope: PhantomData,
        }
    }
}
