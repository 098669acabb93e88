//! What `count`, `any` and `all` combine.

use super::{ParallelIterator, Position};

macro_rules! numbers {
    ($($(#[$doc:meta])* $Numbers:ident $([$F:ident: $($Bound:tt)+])?: $Item:ty = |$this:ident, $item:pat_param| $number:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $Numbers<P $(, $F)?> {
            pub(super) iter: P,
            $(pub(super) f: $F,)?
        }

        // SAFETY: positions are those of the iterator.
        unsafe impl<P: ParallelIterator $(, $F: $($Bound)+)?> ParallelIterator for $Numbers<P $(, $F)?> {
            type Item = $Item;
            type Scope = P::Scope;

            super::forward! { iter }

            #[inline(always)]
            fn positions(&self) -> usize {
                self.iter.positions()
            }

            #[inline(always)]
            unsafe fn get(&self, at: Position) -> Option<$Item> {
                let $this = self;
                // SAFETY: as the caller promises.
                unsafe { self.iter.get(at) }.map(|$item| $number)
            }

            #[inline(always)]
            fn is_aligned<const N: usize>(&self) -> bool {
                self.iter.is_aligned::<N>()
            }

            #[inline(always)]
            unsafe fn lanes<const N: usize>(&self, first: usize) -> [Option<$Item>; N] {
                let $this = self;
                // SAFETY: as the caller promises.
                unsafe { self.iter.lanes::<N>(first) }.map(|item| item.map(|$item| $number))
            }
        }

        super::debug! { $Numbers<P $(, $F)?>: iter }
    )*};
}

numbers! {
    /// 1 for each item of an iterator.
    Count: usize = |_this, _| 1;
    /// 1 for each item of which a function is true, and 0 for the others.
    Holds [F: Fn(P::Item) -> bool]: u32 = |this, item| u32::from((this.f)(item));
}
