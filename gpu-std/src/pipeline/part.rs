//! Parts and orders of an iterator: `take`, `skip`, `step_by` and `rev`.

use super::{IndexedParallelIterator, ParallelIterator, Position, Refusal};

macro_rules! parts {
    ($(
        $(#[$doc:meta])*
        $Part:ident { $($field:ident)? }: |$this:ident, $len:ident| $positions:expr, |$at:ident| $place:expr $(, $method:item)*;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $Part<P> {
            pub(super) iter: P,
            $(pub(super) $field: usize,)?
        }

        // SAFETY: the place of each index below the number of positions is below that of the iterator.
        unsafe impl<P: IndexedParallelIterator> ParallelIterator for $Part<P> {
            type Item = P::Item;
            type Scope = P::Scope;

            #[inline(always)]
            fn scope(&self) -> P::Scope {
                self.iter.scope()
            }

            #[inline(always)]
            fn positions(&self) -> usize {
                let ($this, $len) = (self, self.iter.positions());
                $positions
            }

            #[inline(always)]
            unsafe fn get(&self, $at: Position) -> Option<P::Item> {
                let $this = self;
                // SAFETY: the caller promises that the index is below the number of positions.
                unsafe { self.iter.get($place) }
            }

            $($method)*
        }

        // SAFETY: there is an item at each place of the iterator.
        unsafe impl<P: IndexedParallelIterator> IndexedParallelIterator for $Part<P> {}

        super::debug! { $Part<P>: iter $(, $field)? }
    )*};
}

parts! {
    /// The iterator of [`rev`](IndexedParallelIterator::rev).
    Rev { }: |this, len| { let _ = this; len }, |at| Position::at(this.iter.positions() - 1 - at.index),
        #[inline(always)]
        fn refusal(&self) -> Option<Refusal> {
            self.iter.refusal()
        };
    /// The iterator of [`take`](IndexedParallelIterator::take).
    Take { n }: |this, len| len.min(this.n), |at| { let _ = this; at },
        #[inline(always)]
        fn refusal(&self) -> Option<Refusal> {
            self.iter.refusal()
        },
        #[inline(always)]
        fn is_aligned<const N: usize>(&self) -> bool {
            self.iter.is_aligned::<N>()
        },
        #[inline(always)]
        unsafe fn lanes<const N: usize>(&self, first: usize) -> [Option<P::Item>; N] {
            // SAFETY: as the caller promises.
            unsafe { self.iter.lanes::<N>(first) }
        };
    /// The iterator of [`skip`](IndexedParallelIterator::skip).
    Skip { n }: |this, len| len.saturating_sub(this.n), |at| Position::at(this.n + at.index),
        #[inline(always)]
        fn refusal(&self) -> Option<Refusal> {
            self.iter.refusal()
        };
    /// The iterator of [`step_by`](IndexedParallelIterator::step_by).
    StepBy { n }: |this, len| if this.n == 0 { 0 } else { len.div_ceil(this.n) }, |at| Position::at(this.n * at.index),
        #[inline(always)]
        fn refusal(&self) -> Option<Refusal> {
            let own = (self.n == 0).then_some(Refusal("`step_by(0)`: a step is at least 1"));
            self.iter.refusal().or(own)
        };
}
