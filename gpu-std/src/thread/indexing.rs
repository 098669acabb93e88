//! `y[i]` of what has no index: rustc says what to write instead.
//!
//! `Index` is implemented under a bound that nothing meets and that carries the message. So nothing here is ever called.

use core::convert::Infallible;

/// Outputs by an index of one's own.
#[diagnostic::on_unimplemented(
    message = "an output has no index of one's own: each thread gets the elements that it owns",
    label = "this element may belong to another thread",
    note = "a thread's own elements: `for (i, y) in y {{ *y = …; }}`, or `if let Some((i, y)) = y.first_mut() {{ *y = …; }}` where the grid has a \
            thread per element",
    note = "the element `i`, if it belongs to the calling thread: `y.get_mut(i)`",
    note = "elements that several threads access: `&[Atomic<T>]`; without the compiler's proof: `UnsafeSlice<T>` in an `unsafe fn`"
)]
#[doc(hidden)]
pub trait IndexedOutput {
    /// Nothing has this.
    const NEVER: Infallible;
}

/// Shared arrays by an index, before the barrier.
#[diagnostic::on_unimplemented(
    message = "a shared array has no index before the barrier: each thread accesses the elements that it owns",
    label = "another thread may be writing this element",
    note = "a thread's own elements: `for (i, x) in &mut part {{ *x = …; }}`",
    note = "all elements, for reading, behind the barrier: `let part = sync(part);`, then `part[i]`",
    note = "elements that several threads access: `SharedAtomics<T, N>` or `SharedCells<T, N>`"
)]
#[doc(hidden)]
pub trait IndexedBeforeBarrier {
    /// Nothing has this.
    const NEVER: Infallible;
}

/// Implements `Index` and `IndexMut` under such a bound.
macro_rules! no_index {
    ($bound:ident: $([$($generics:tt)*] $Type:ty;)*) => {$(
        impl<T, Place, $($generics)*> ::core::ops::Index<Place> for $Type
        where
            Self: $crate::thread::indexing::$bound,
        {
            type Output = T;

            fn index(&self, _: Place) -> &T {
                match <Self as $crate::thread::indexing::$bound>::NEVER {}
            }
        }

        impl<T, Place, $($generics)*> ::core::ops::IndexMut<Place> for $Type
        where
            Self: $crate::thread::indexing::$bound,
        {
            fn index_mut(&mut self, _: Place) -> &mut T {
                match <Self as $crate::thread::indexing::$bound>::NEVER {}
            }
        }
    )*};
}
pub(crate) use no_index;
