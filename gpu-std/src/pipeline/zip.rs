//! `zip` and `enumerate`.

use super::{IndexedParallelIterator, ParallelIterator, Position, Refusal};

/// The iterator of [`zip`](IndexedParallelIterator::zip).
#[derive(Clone, Copy)]
pub struct Zip<A, B> {
    pub(super) a: A,
    pub(super) b: B,
}

// SAFETY: an index below the smaller number of positions is below both.
unsafe impl<A: IndexedParallelIterator, B: IndexedParallelIterator> ParallelIterator for Zip<A, B> {
    type Item = (A::Item, B::Item);
    type Scope = A::Scope;

    #[inline(always)]
    fn scope(&self) -> A::Scope {
        self.a.scope()
    }

    #[inline(always)]
    fn refusal(&self) -> Option<Refusal> {
        self.a.refusal().or(self.b.refusal())
    }

    #[inline(always)]
    fn positions(&self) -> usize {
        self.a.positions().min(self.b.positions())
    }

    #[inline(always)]
    unsafe fn get(&self, at: Position) -> Option<Self::Item> {
        // SAFETY: as the caller promises.
        unsafe { Some((self.a.item(at), self.b.item(at))) }
    }

    #[inline(always)]
    fn is_aligned<const N: usize>(&self) -> bool {
        self.a.is_aligned::<N>() && self.b.is_aligned::<N>()
    }

    #[inline(always)]
    unsafe fn lanes<const N: usize>(&self, first: usize) -> [Option<Self::Item>; N] {
        // SAFETY: as the caller promises.
        let (a, b) = unsafe { (self.a.lanes::<N>(first), self.b.lanes::<N>(first)) };
        let mut b = b.into_iter();
        a.map(|a| a.zip(b.next().flatten()))
    }
}

// SAFETY: there is a pair at each index below both numbers of items.
unsafe impl<A: IndexedParallelIterator, B: IndexedParallelIterator> IndexedParallelIterator for Zip<A, B> {}

super::debug! { Zip<A, B>: a, b }

/// The iterator of [`enumerate`](IndexedParallelIterator::enumerate).
#[derive(Clone, Copy)]
pub struct Enumerate<P> {
    pub(super) iter: P,
}

// SAFETY: positions are those of the iterator.
unsafe impl<P: IndexedParallelIterator> ParallelIterator for Enumerate<P> {
    type Item = (usize, P::Item);
    type Scope = P::Scope;

    super::forward! { iter }

    #[inline(always)]
    fn positions(&self) -> usize {
        self.iter.positions()
    }

    #[inline(always)]
    unsafe fn get(&self, at: Position) -> Option<Self::Item> {
        // SAFETY: as the caller promises.
        unsafe { self.iter.get(at) }.map(|item| (at.index, item))
    }

    #[inline(always)]
    fn is_aligned<const N: usize>(&self) -> bool {
        self.iter.is_aligned::<N>()
    }

    #[inline(always)]
    unsafe fn lanes<const N: usize>(&self, first: usize) -> [Option<Self::Item>; N] {
        let mut index = first;
        // SAFETY: as the caller promises.
        unsafe { self.iter.lanes::<N>(first) }.map(|item| {
            let item = item.map(|item| (index, item));
            index += 1;
            item
        })
    }
}

// SAFETY: there is an item wherever there is one of the iterator.
unsafe impl<P: IndexedParallelIterator> IndexedParallelIterator for Enumerate<P> {}

super::debug! { Enumerate<P>: iter }
