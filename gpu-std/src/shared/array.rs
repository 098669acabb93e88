//! One-dimensional shared arrays.

use core::marker::PhantomData;

use super::{
    KernelScope, SharedElement, SharedParam,
    phases::{line, line_view, phases},
};

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

line! { Shared: [const N: usize] [N], "`N`" = |_array| N }
phases! { Shared and SharedView: [T, const N: usize] [T, N] { start } }

impl<T, const N: usize> Shared<'_, T, N> {
    /// The address of the first element.
    #[inline(always)]
    pub(super) fn start(&self) -> *mut T {
        self.start
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

line_view! {
    /// A [`Shared`] array in the read phase: every thread reads every element, as in a `[T; N]`.
    ///
    /// [`sync`](crate::sync) turns it into a [`Shared`] again.
    SharedView, stored as T
}

impl<T, const N: usize> SharedView<'_, T, N> {
    /// # Safety
    /// There are `N` initialised elements, which nothing writes until this is passed to a barrier.
    #[inline(always)]
    pub(super) unsafe fn new(start: *mut T) -> Self {
        Self { start, scope: PhantomData }
    }
}
