//! `map`.

use super::{IndexedParallelIterator, ParallelIterator, Position};

/// The iterator of [`map`](ParallelIterator::map).
#[derive(Clone, Copy)]
pub struct Map<P, F> {
    pub(super) iter: P,
    pub(super) f: F,
}

// SAFETY: positions are those of the iterator.
unsafe impl<P: ParallelIterator, U, F: Fn(P::Item) -> U> ParallelIterator for Map<P, F> {
    type Item = U;
    type Scope = P::Scope;

    super::forward! { iter }

    #[inline(always)]
    fn positions(&self) -> usize {
        self.iter.positions()
    }

    #[inline(always)]
    unsafe fn get(&self, at: Position) -> Option<U> {
        // SAFETY: as the caller promises.
        unsafe { self.iter.get(at) }.map(&self.f)
    }

    #[inline(always)]
    fn is_aligned<const N: usize>(&self) -> bool {
        self.iter.is_aligned::<N>()
    }

    #[inline(always)]
    unsafe fn lanes<const N: usize>(&self, first: usize) -> [Option<U>; N] {
        // SAFETY: as the caller promises.
        unsafe { self.iter.lanes::<N>(first) }.map(|item| item.map(&self.f))
    }
}

// SAFETY: there is an item wherever there is one of the iterator.
unsafe impl<P: IndexedParallelIterator, U, F: Fn(P::Item) -> U> IndexedParallelIterator for Map<P, F> {}

super::debug! { Map<P, F>: iter }
