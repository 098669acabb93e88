//! Shared arrays without phases, of atomics and of cells: all threads of a block access them at any time.

use core::{fmt, iter::FusedIterator, ops::Deref};

use super::{KernelScope, Shared, SharedElement, SharedParam, SharedView};
use crate::BlockStride;
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::Barrier;
use crate::{
    atomic::{Atomic, AtomicElement, Block, CellElement, RelaxedCell},
    shared::barrier::{Phase, sealed},
};

/// A shared array of `N` block-scope atomics, which all threads of the block access at any time, without phases.
///
/// They start with arbitrary values: initialise them by [`fill`](Self::fill) and a barrier. Between the last change and a
/// thread that reads the result there has to be a barrier too. [`sync`](crate::sync), when passed the array itself, turns it
/// into a [`SharedView`], which is read like any memory; [`Shared::into_atomics`] turns a [`Shared`] array in the write phase
/// into atomics.
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// Counts in shared memory first, which is faster when many values are the same.
/// #[kernel(block = 256)]
/// pub fn histogram(values: &[u8], bins: &[Atomic<u32>], counts: SharedAtomics<u32, 256>) {
///     counts.fill(0);
///     sync(());
///     for i in grid_stride(values.len()) {
///         counts[usize::from(values[i])].fetch_add(1);
///     }
///     sync(());
///     for (value, count) in counts.owned() {
///         bins[value].fetch_add(count.load());
///     }
/// }
/// ```
#[doc(alias = "__shared__", alias = "atomicAdd_block")]
#[doc(alias = "shared.array")]
pub struct SharedAtomics<'k, T: AtomicElement, const N: usize> {
    elements: &'k [Atomic<T, Block>; N],
}

/// A shared array of `N` cells, which all threads of the block read and write at any time, for access patterns that cannot be
/// split into the phases of a [`Shared`] array (CUDA's `volatile __shared__`). Accesses are not ordered with each other; to
/// see what another thread wrote, use a barrier or fences in between.
///
/// They start with arbitrary values, like [`SharedAtomics`].
///
/// ```
/// use gpu_std::prelude::{*, memory::*};
///
/// /// Prefix sums of each block (Hillis and Steele).
/// #[kernel(block = 256)]
/// pub fn sums_up_to(x: &[i32], y: PerThread<i32>, sums: SharedCells<i32, 256>) {
///     let me = thread_rank() as usize;
///     sums[me].store(x.get(global_rank()).copied().unwrap_or(0));
///     let mut step = 1;
///     while step < 256 {
///         sync(());
///         let left = if me >= step { sums[me - step].load() } else { 0 };
///         sync(());
///         sums[me].store(sums[me].load() + left);
///         step *= 2;
///     }
///     for (_, y) in y {
///         *y = sums[me].load();
///     }
/// }
/// ```
#[doc(alias = "__shared__", alias = "volatile")]
#[doc(alias = "shared.array")]
pub struct SharedCells<'k, T: CellElement, const N: usize> {
    elements: &'k [RelaxedCell<T, Block>; N],
}

macro_rules! concurrent {
    ($($name:ident of $element:ident: $bound:ident, $entered:literal;)*) => {$(
        impl<'k, T: $bound, const N: usize> $name<'k, T, N> {
            /// Stores the same value in all elements; each thread of the block stores to its own. Threads see the stores of
            /// the others after the next barrier.
            #[inline(always)]
            pub fn fill(&self, value: T) {
                for (_, element) in self.owned() {
                    element.store(value);
                }
            }

            /// Iterates over the elements that the calling thread owns, with their indices. As in a [`Shared`] array, each
            /// element belongs to exactly one thread of the block.
            #[inline(always)]
            pub fn owned(&self) -> Owned<'_, $element<T, Block>> {
                Owned { indices: BlockStride::new(N), elements: self.elements }
            }
        }

        impl<T: $bound, const N: usize> Deref for $name<'_, T, N> {
            type Target = [$element<T, Block>; N];

            #[inline(always)]
            fn deref(&self) -> &[$element<T, Block>; N] {
                self.elements
            }
        }

        impl<T: $bound + fmt::Debug, const N: usize> fmt::Debug for $name<'_, T, N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.elements.fmt(f)
            }
        }

        // SAFETY: the elements are only used atomically until a barrier, and any bytes are a value.
        unsafe impl<'k, T: $bound + SharedElement, const N: usize> SharedParam<'k> for $name<'k, T, N> {
            type Element = T;
            const LEN: usize = N;

            #[inline(always)]
            unsafe fn enter(storage: *mut T, _: &'k KernelScope) -> Self {
                // SAFETY: the storage has `N` initialised elements, which last as long as the scope; the elements are laid out like
                // theirs.
                Self { elements: unsafe { &*storage.cast() } }
            }
        }

        impl<T: $bound, const N: usize> sealed::Phase for $name<'_, T, N> {}

        impl<'k, T: $bound, const N: usize> Phase for $name<'k, T, N> {
            type Next = SharedView<'k, T, N>;

            #[inline(always)]
            unsafe fn after_barrier(self) -> SharedView<'k, T, N> {
                // SAFETY: the elements are initialised. No thread has a reference to one left: it would borrow what the barrier
                // takes.
                unsafe { SharedView::new(core::ptr::from_ref(self.elements).cast_mut().cast()) }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn arrays(&self) -> u64 {
                Barrier::array_as(self.elements.as_ptr(), $entered)
            }
        }
    )*};
}

concurrent! {
    SharedAtomics of Atomic: AtomicElement, 3;
    SharedCells of RelaxedCell: CellElement, 4;
}

/// The iterator of [`SharedAtomics::owned`] and [`SharedCells::owned`].
pub struct Owned<'a, E> {
    indices: BlockStride,
    elements: &'a [E],
}

impl<E> fmt::Debug for Owned<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owned").field("indices", &self.indices).finish_non_exhaustive()
    }
}

impl<'a, E> Iterator for Owned<'a, E> {
    type Item = (usize, &'a E);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, &'a E)> {
        let index = self.indices.next()?;
        // SAFETY: indices are less than the length.
        Some((index, unsafe { self.elements.get_unchecked(index) }))
    }
}

impl<E> FusedIterator for Owned<'_, E> {}

impl<'k, T: AtomicElement, const N: usize> Shared<'k, T, N> {
    /// Turns the elements into atomics at the next barrier: `let counts = sync(counts.into_atomics());`. All threads of the
    /// block must do so.
    #[inline(always)]
    pub fn into_atomics(self) -> IntoAtomics<'k, T, N> {
        IntoAtomics(self)
    }
}

/// A [`Shared`] array that [`sync`](crate::sync) turns into [`SharedAtomics`]: the result of [`Shared::into_atomics`].
#[derive(Debug)]
pub struct IntoAtomics<'k, T, const N: usize>(Shared<'k, T, N>);

impl<T: AtomicElement, const N: usize> sealed::Phase for IntoAtomics<'_, T, N> {}

impl<'k, T: AtomicElement, const N: usize> Phase for IntoAtomics<'k, T, N> {
    type Next = SharedAtomics<'k, T, N>;

    #[inline(always)]
    unsafe fn after_barrier(self) -> SharedAtomics<'k, T, N> {
        // SAFETY: the storage has `N` initialised elements, which nobody uses but as atomics until this thread gives them to a
        // barrier.
        SharedAtomics { elements: unsafe { &*self.0.start().cast() } }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn arrays(&self) -> u64 {
        Barrier::array_as(self.0.start(), 5)
    }
}
