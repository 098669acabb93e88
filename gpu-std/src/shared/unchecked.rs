//! A shared array without compile-time race freedom, accessed by `unsafe` code.

use core::{fmt, marker::PhantomData};

use super::{KernelScope, SharedElement, SharedParam};
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, Memory, Watch};

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

impl<T, const N: usize> Clone for UnsafeShared<'_, T, N> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize> Copy for UnsafeShared<'_, T, N> {}

impl<T, const N: usize> fmt::Debug for UnsafeShared<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeShared").field("len", &N).finish_non_exhaustive()
    }
}

impl<T: SharedElement, const N: usize> UnsafeShared<'_, T, N> {
    /// Returns the number of elements: `N`.
    #[inline(always)]
    pub const fn len(self) -> usize {
        N
    }

    /// Returns whether there are no elements: `N == 0`.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        N == 0
    }

    /// Returns the element `index`.
    ///
    /// # Safety
    /// No other thread writes it at the same time: other writes are ordered by a barrier, or by releasing and acquiring
    /// atomics.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn get(self, index: usize) -> T {
        let at = self.at(index);
        #[cfg(not(target_arch = "nvptx64"))]
        self.watch.touch(Memory::Shared, at, index, Access::Read);
        // SAFETY: the element is there and initialised; the caller promises that nobody writes it now.
        unsafe { at.read() }
    }

    /// Writes the element `index`.
    ///
    /// # Safety
    /// No other thread reads or writes it at the same time, as for [`get`](Self::get).
    ///
    /// # Panics
    /// If `index` is out of bounds.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn set(self, index: usize, value: T) {
        let at = self.at(index);
        #[cfg(not(target_arch = "nvptx64"))]
        self.watch.touch(Memory::Shared, at, index, Access::Write);
        // SAFETY: the element is there; the caller promises that nobody else uses it now.
        unsafe { at.write(value) };
    }

    /// Returns the address of the first element. Accesses through it are not checked.
    #[inline(always)]
    pub fn as_mut_ptr(self) -> *mut T {
        self.start
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn at(self, index: usize) -> *mut T {
        assert!(index < N, "index out of bounds: the len is {N} but the index is {index}");
        // SAFETY: the index is less than the length.
        unsafe { self.start.add(index) }
    }
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
