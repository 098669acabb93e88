//! `filter` and `filter_map`.

use super::{ParallelIterator, Position};

macro_rules! filters {
    ($($(#[$doc:meta])* $Filter:ident: |$f:ident: [$($F:tt)+]| $item:ident => $result:expr, $Item:ty $(, $U:ident)?;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $Filter<P, F> {
            pub(super) iter: P,
            pub(super) f: F,
        }

        // SAFETY: positions are those of the iterator.
        unsafe impl<P: ParallelIterator, $($U,)? F: $($F)+> ParallelIterator for $Filter<P, F> {
            type Item = $Item;
            type Scope = P::Scope;

            super::forward! { iter }

            #[inline(always)]
            fn positions(&self) -> usize {
                self.iter.positions()
            }

            #[inline(always)]
            unsafe fn get(&self, at: Position) -> Option<Self::Item> {
                let $f = &self.f;
                // SAFETY: as the caller promises.
                unsafe { self.iter.get(at) }.and_then(|$item| $result)
            }

            #[inline(always)]
            fn is_aligned<const N: usize>(&self) -> bool {
                self.iter.is_aligned::<N>()
            }

            #[inline(always)]
            unsafe fn lanes<const N: usize>(&self, first: usize) -> [Option<Self::Item>; N] {
                let $f = &self.f;
                // SAFETY: as the caller promises.
                unsafe { self.iter.lanes::<N>(first) }.map(|item| item.and_then(|$item| $result))
            }
        }

        super::debug! { $Filter<P, F>: iter }
    )*};
}

filters! {
    /// The iterator of [`filter`](ParallelIterator::filter).
    Filter: |f: [Fn(&P::Item) -> bool]| item => if f(&item) { Some(item) } else { None }, P::Item;
    /// The iterator of [`filter_map`](ParallelIterator::filter_map).
    FilterMap: |f: [Fn(P::Item) -> Option<U>]| item => f(item), U, U;
}
