//! One-dimensional shared arrays.

use core::{fmt, iter::FusedIterator, marker::PhantomData, ops::Deref};

use super::{KernelScope, SharedElement, SharedParam};
use crate::BlockStride;
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::Barrier;
use crate::shared::barrier::{Phase, sealed};
use crate::thread::indexing::no_index;

/// A shared array of `N` elements (CUDA's `__shared__ T a[N]`), in the write phase: each thread of the block accesses the
/// elements that it owns.
///
/// Thread `i` of `n` in the block owns the elements `i`, `i + n`, `i + 2n`, … where `i` is its
/// [`thread_rank`](crate::thread_rank). [`sync`](crate::sync) turns it into a [`SharedView`]. Elements that were not written
/// have arbitrary values, or are zero ([`SharedElement`]).
#[doc(alias = "__shared__", alias = "cuda.shared.array")]
#[doc(alias = "shared.array")]
pub struct Shared<'k, T, const N: usize> {
    start: *mut T,
    scope: PhantomData<&'k mut [T; N]>,
}

impl<'k, T: SharedElement, const N: usize> Shared<'k, T, N> {
    /// Returns the number of elements, those of other threads included: `N`.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        N
    }

    /// Returns whether there are no elements: `N == 0`.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        N == 0
    }

    /// Iterates over the elements of this thread with their indices.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> SharedIter<'_, T> {
        SharedIter { indices: BlockStride::new(N), start: self.start, scope: PhantomData }
    }

    /// Returns the first element of this thread with its index, if it has any. It is the only one if the block has `N`
    /// threads or more.
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<(usize, &mut T)> {
        self.iter_mut().next()
    }

    /// Returns the element `index`, if it belongs to this thread.
    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        // SAFETY: the element is this thread's, and borrowed from `self` exclusively.
        BlockStride::new(N).takes(index).then(|| unsafe { &mut *self.start.add(index) })
    }
}

impl<T, const N: usize> Shared<'_, T, N> {
    /// The address of the first element.
    #[inline(always)]
    pub(super) fn start(&self) -> *mut T {
        self.start
    }
}

no_index! { IndexedBeforeBarrier: [const N: usize,] Shared<'_, T, N>; }

impl<T, const N: usize> fmt::Debug for Shared<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("len", &N).finish_non_exhaustive()
    }
}

impl<'a, T: SharedElement, const N: usize> IntoIterator for &'a mut Shared<'_, T, N> {
    type Item = (usize, &'a mut T);
    type IntoIter = SharedIter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> SharedIter<'a, T> {
        self.iter_mut()
    }
}

// SAFETY: threads use only the elements of their own rank until a barrier.
unsafe impl<'k, T: SharedElement, const N: usize> SharedParam<'k> for Shared<'k, T, N> {
    type Element = T;
    const LEN: usize = N;

    #[inline(always)]
    unsafe fn enter(storage: *mut T, _: &'k KernelScope) -> Self {
        Self { start: storage, scope: PhantomData }
    }
}

/// The iterator of [`Shared::iter_mut`].
pub struct SharedIter<'a, T> {
    indices: BlockStride,
    start: *mut T,
    scope: PhantomData<&'a mut [T]>,
}

impl<T> fmt::Debug for SharedIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedIter").field("indices", &self.indices).finish_non_exhaustive()
    }
}

impl<'a, T> Iterator for SharedIter<'a, T> {
    type Item = (usize, &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, &'a mut T)> {
        let index = self.indices.next()?;
        // SAFETY: the index is less than the length. Indices of one loop rise, those of other threads differ, there is one loop
        // at a time because the `Shared` is borrowed, and no thread reads before all came to a barrier without it.
        Some((index, unsafe { &mut *self.start.add(index) }))
    }
}

impl<T> FusedIterator for SharedIter<'_, T> {}

/// A [`Shared`] array in the read phase: every thread reads every element, as in a `[T; N]`.
///
/// [`sync`](crate::sync) turns it into a [`Shared`] again.
pub struct SharedView<'k, T, const N: usize> {
    start: *mut T,
    scope: PhantomData<&'k mut [T; N]>,
}

impl<T, const N: usize> SharedView<'_, T, N> {
    /// # Safety
    /// There are `N` initialised elements, which nothing writes until this is passed to a barrier.
    #[inline(always)]
    pub(super) unsafe fn new(start: *mut T) -> Self {
        Self { start, scope: PhantomData }
    }
}

impl<T, const N: usize> Deref for SharedView<'_, T, N> {
    type Target = [T; N];

    #[inline(always)]
    fn deref(&self) -> &[T; N] {
        // SAFETY: the storage has `N` initialised elements, which nobody writes until this thread gives the view to a barrier.
        unsafe { &*self.start.cast() }
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for SharedView<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T, const N: usize> sealed::Phase for Shared<'_, T, N> {}

impl<'k, T, const N: usize> Phase for Shared<'k, T, N> {
    type Next = SharedView<'k, T, N>;

    #[inline(always)]
    unsafe fn after_barrier(self) -> SharedView<'k, T, N> {
        SharedView { start: self.start, scope: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn arrays(&self) -> u64 {
        Barrier::array(self.start, false)
    }
}

impl<T, const N: usize> sealed::Phase for SharedView<'_, T, N> {}

impl<'k, T, const N: usize> Phase for SharedView<'k, T, N> {
    type Next = Shared<'k, T, N>;

    #[inline(always)]
    unsafe fn after_barrier(self) -> Shared<'k, T, N> {
        Shared { start: self.start, scope: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn arrays(&self) -> u64 {
        Barrier::array(self.start, true)
    }
}
