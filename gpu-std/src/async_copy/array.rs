//! One-dimensional shared arrays that are filled asynchronously.

use core::{fmt, marker::PhantomData};

use super::{AsyncElement, PIECE, PendingCopy, Piece, Stage, copy::copy_piece, sealed};
use crate::{
    BlockStride,
    shared::phases::{line_view, phases},
    shared::{KernelScope, SharedParam},
};

/// A shared array of `N` elements that is filled by asynchronous copies (`cp.async`): see [the module](super).
///
/// A kernel takes it as a parameter, like [`Shared`](crate::Shared). Until something is copied into it, it holds arbitrary
/// values.
#[doc(alias = "__shared__", alias = "cp.async")]
#[doc(alias = "memcpy_async")]
pub struct AsyncShared<'k, T, const N: usize> {
    pub(super) start: *mut Piece,
    scope: PhantomData<&'k mut [T; N]>,
}

/// The number of pieces that `N` elements occupy.
const fn pieces<T, const N: usize>() -> usize {
    match N.checked_mul(size_of::<T>()) {
        Some(bytes) => bytes.div_ceil(PIECE),
        None => panic!("this `AsyncShared` array is larger than the address space"),
    }
}

impl<'k, T: AsyncElement, const N: usize> AsyncShared<'k, T, N> {
    /// The number of its pieces.
    pub(super) const PIECES: usize = pieces::<T, N>();

    /// Returns the number of elements: `N`.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        N
    }

    /// Returns whether there are no elements: `N == 0`.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        N == 0
    }

    /// Starts to copy the first `N` elements of `source` (`cp.async`, `__pipeline_memcpy_async`); if it has fewer, the rest
    /// is filled with zeros.
    ///
    /// Each thread of the block copies some of the pieces from the source that it passes: all threads should pass the same.
    /// It is fastest from global memory and from addresses that are multiples of 16 bytes, such as that of a buffer's first
    /// element.
    #[doc(alias = "__pipeline_memcpy_async", alias = "cp.async")]
    #[doc(alias = "memcpy_async", alias = "cuda::memcpy_async")]
    #[inline(always)]
    pub fn copy_async<'s>(self, source: &'s [T]) -> PendingCopy<'s, Self> {
        let from = source.as_ptr().cast::<u8>();
        let bytes = source.len().min(N) * size_of::<T>();
        for piece in BlockStride::new(Self::PIECES) {
            let offset = piece * PIECE;
            let rest = bytes.saturating_sub(offset).min(PIECE);
            // SAFETY: the piece is inside the storage and this thread's. The source has `rest` bytes from the offset on (where that
            // is none, its address is not used), and `PendingCopy` borrows it until this thread has waited.
            unsafe { copy_piece::<T>(self.start.add(piece), from.wrapping_add(offset), rest) };
        }
        PendingCopy::new(self)
    }

    /// Starts no copy: for the last rounds of a [`Pipeline`](super::Pipeline).
    #[inline(always)]
    pub fn skip<'s>(self) -> PendingCopy<'s, Self> {
        PendingCopy::new(self)
    }
}

impl<T, const N: usize> fmt::Debug for AsyncShared<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncShared").field("len", &N).finish_non_exhaustive()
    }
}

// SAFETY: until a barrier each thread uses only the pieces of its own rank.
unsafe impl<'k, T: AsyncElement, const N: usize> SharedParam<'k> for AsyncShared<'k, T, N> {
    type Element = Piece;
    const LEN: usize = {
        assert!(
            align_of::<T>() <= PIECE,
            "elements of an `AsyncShared` array are aligned to at most 16 bytes"
        );
        pieces::<T, N>()
    };

    #[inline(always)]
    unsafe fn enter(storage: *mut Piece, _: &'k KernelScope) -> Self {
        Self { start: storage, scope: PhantomData }
    }
}

line_view! {
    /// An [`AsyncShared`] array in the read phase: every thread reads every element, as in a `[T; N]`.
    ///
    /// [`sync`](crate::sync) turns it into an [`AsyncShared`] again.
    AsyncSharedView, stored as Piece
}

phases! { AsyncShared and AsyncSharedView: [T, const N: usize] [T, N] { start } }

impl<T, const N: usize> sealed::Stage for AsyncShared<'_, T, N> {}

impl<'k, T, const N: usize> Stage for AsyncShared<'k, T, N> {
    type View = AsyncSharedView<'k, T, N>;
}
