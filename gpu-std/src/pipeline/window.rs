//! Sequences of adjacent items: `windows`, `array_windows` and `chunks`.

use super::{IndexedParallelIterator, ParallelIterator, Position, Refusal};

/// Adjacent items of a pipeline, one after another on one thread: the items of [`windows`](IndexedParallelIterator::windows) and
/// [`chunks`](IndexedParallelIterator::chunks).
///
/// ```
/// use gpu_std::{pipeline::*, prelude::*};
///
/// /// The moving average of so many elements.
/// #[pipeline]
/// pub fn moving_average(x: In<f32>, n: u32) -> Out<f32> {
///     x.windows(n as usize).map(move |window| window.sum::<f32>() / n as f32)
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Window<P> {
    iter: P,
    /// The indices of the first item, and of the one after the last: at most the number of items.
    next: usize,
    end: usize,
}

impl<P: IndexedParallelIterator> Iterator for Window<P> {
    type Item = P::Item;

    #[inline(always)]
    fn next(&mut self) -> Option<P::Item> {
        if self.next >= self.end {
            return None;
        }
        let index = self.next;
        self.next += 1;
        // SAFETY: it is less than the end.
        Some(unsafe { self.iter.item(Position::at(index)) })
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.end - self.next;
        (len, Some(len))
    }

    #[inline(always)]
    fn nth(&mut self, n: usize) -> Option<P::Item> {
        self.next = self.next.saturating_add(n).min(self.end);
        self.next()
    }
}

impl<P: IndexedParallelIterator> DoubleEndedIterator for Window<P> {
    #[inline(always)]
    fn next_back(&mut self) -> Option<P::Item> {
        if self.next >= self.end {
            return None;
        }
        self.end -= 1;
        // SAFETY: it is less than the end was.
        Some(unsafe { self.iter.item(Position::at(self.end)) })
    }
}

impl<P: IndexedParallelIterator> ExactSizeIterator for Window<P> {}
impl<P: IndexedParallelIterator> core::iter::FusedIterator for Window<P> {}

super::debug! { Window<P>: next, end }

macro_rules! sequences {
    ($(
        $(#[$doc:meta])*
        $Windows:ident: |$n:ident, $len:ident| $positions:expr, |$index:ident| $range:expr, $refusal:literal;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $Windows<P> {
            pub(super) iter: P,
            pub(super) n: usize,
        }

        // SAFETY: the sequence at each index below the number of positions ends before the items do.
        unsafe impl<P: IndexedParallelIterator + Copy> ParallelIterator for $Windows<P> {
            type Item = Window<P>;
            type Scope = P::Scope;

            #[inline(always)]
            fn scope(&self) -> P::Scope {
                self.iter.scope()
            }

            #[inline(always)]
            fn positions(&self) -> usize {
                let ($n, $len) = (self.n, self.iter.positions());
                if $n == 0 { 0 } else { $positions }
            }

            #[inline(always)]
            fn refusal(&self) -> Option<Refusal> {
                self.iter.refusal().or((self.n == 0).then_some(Refusal($refusal)))
            }

            #[inline(always)]
            unsafe fn get(&self, at: Position) -> Option<Window<P>> {
                let ($n, $len, $index) = (self.n, self.iter.positions(), at.index);
                let (next, end) = $range;
                Some(Window { iter: self.iter, next, end })
            }
        }

        // SAFETY: there is a sequence at each index.
        unsafe impl<P: IndexedParallelIterator + Copy> IndexedParallelIterator for $Windows<P> {}

        super::debug! { $Windows<P>: iter, n }
    )*};
}

sequences! {
    /// The iterator of [`windows`](IndexedParallelIterator::windows).
    Windows: |n, len| (len + 1).saturating_sub(n), |index| { let _ = len; (index, index + n) }, "`windows(0)`: a window has at least one item";
    /// The iterator of [`chunks`](IndexedParallelIterator::chunks).
    Chunks: |n, len| len.div_ceil(n), |index| (index * n, len.min((index * n).saturating_add(n))), "`chunks(0)`: a chunk has at least one item";
}

/// The iterator of [`array_windows`](IndexedParallelIterator::array_windows).
#[derive(Clone, Copy)]
pub struct ArrayWindows<P, const N: usize> {
    pub(super) iter: P,
}

// SAFETY: the window at each index below the number of positions ends before the items do.
unsafe impl<P: IndexedParallelIterator, const N: usize> ParallelIterator for ArrayWindows<P, N> {
    type Item = [P::Item; N];
    type Scope = P::Scope;

    super::forward! { iter }

    #[inline(always)]
    fn positions(&self) -> usize {
        (self.iter.positions() + 1).saturating_sub(N)
    }

    #[inline(always)]
    unsafe fn get(&self, at: Position) -> Option<[P::Item; N]> {
        // SAFETY: as the caller promises, so many items from this one on are there.
        Some(core::array::from_fn(|i| unsafe { self.iter.item(Position::at(at.index + i)) }))
    }
}

// SAFETY: there is a window at each index.
unsafe impl<P: IndexedParallelIterator, const N: usize> IndexedParallelIterator for ArrayWindows<P, N> {}

impl<P: core::fmt::Debug, const N: usize> core::fmt::Debug for ArrayWindows<P, N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ArrayWindows").field("iter", &self.iter).finish()
    }
}
