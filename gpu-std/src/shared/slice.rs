//! Dynamic shared memory: shared arrays whose length the launch passes.

#[cfg(not(target_arch = "nvptx64"))]
use core::alloc::Layout;
use core::{fmt, marker::PhantomData, ops::Deref, slice};

use super::{
    SharedElement,
    phases::{line, phases},
};
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{PackedArgs, Runtime};
use crate::{param::Param, signature::Text};

/// A shared array whose length the launch passes (CUDA's `extern __shared__ T a[]`), in the write phase: each thread of the
/// block accesses the elements that it owns, as in a [`Shared`](crate::Shared) array.
///
/// The launch passes the number of elements, one argument for each such parameter. [`sync`](crate::sync) turns it into a
/// [`SharedSliceView`]. Elements that were not written have arbitrary values, or are zero ([`SharedElement`]).
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// Sums the elements of each block, for any block size: launched with `threads_per_block` elements.
/// #[kernel]
/// pub fn sums(x: &[f32], mut part: SharedSlice<f32>, mut sums: PerBlock<f32>) {
///     let first = block_rank() * part.len();
///     for (i, element) in &mut part {
///         *element = x.get(first + i).copied().unwrap_or(0.0);
///     }
///     let part = sync(part);
///     if let Some((_, sum)) = sums.first_mut() {
///         *sum = part.iter().sum();
///     }
/// }
/// ```
#[doc(alias = "__shared__", alias = "extern_shared")]
#[doc(alias = "dynamic_shared_memory", alias = "cuda.shared.array")]
#[doc(alias = "shared.array", alias = "cudaFuncSetAttribute")]
#[doc(alias = "MaxDynamicSharedMemorySize")]
pub struct SharedSlice<'k, T> {
    start: *mut T,
    len: usize,
    scope: PhantomData<&'k mut [T]>,
}

line! { SharedSlice: [] [], "what the launch passed" = |array| array.len }
phases! { SharedSlice and SharedSliceView: [T] [T] { start, len } }

/// Offset and length of a shared array whose length the launch passes.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DynamicArray {
    /// From the start of a block's dynamic shared memory on a GPU.
    pub device_offset: u32,
    /// From the start of a block's shared memory on the CPU, where the other arrays come first.
    pub host_offset: u32,
    /// In elements. A launch with more is refused.
    pub len: u32,
}

// SAFETY: `pack` reserves memory for the array, of which threads use only the elements of their own rank until a barrier.
unsafe impl<'k, T: SharedElement> Param<'k> for SharedSlice<'k, T> {
    type Head = DynamicArray;
    type Tail = ();

    const SIGNATURE: Text = Text::Of("SharedSlice", &[T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(place: DynamicArray, (): &'k ()) -> Self {
        const {
            assert!(
                align_of::<T>() <= super::SHARED_ALIGN,
                "elements of shared arrays are aligned to at most 128 bytes"
            );
        }
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: `pack` reserved the array there.
        let start = unsafe { crate::device::dynamic_shared(place.device_offset as usize) };
        #[cfg(not(target_arch = "nvptx64"))]
        let start = crate::host::current().shared.wrapping_add(place.host_offset as usize);
        let (start, len) = (start.cast(), place.len as usize);
        // SAFETY: as above; every thread assembles its parameters before the kernel begins.
        unsafe { super::make_valid::<T>(start, len) };
        Self { start, len, scope: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = usize;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(len: usize, args: &mut PackedArgs) {
        args.push_shared(Layout::array::<T>(len).ok(), len);
    }
}

/// A [`SharedSlice`] in the read phase: every thread reads every element, as in a `[T]`.
///
/// [`sync`](crate::sync) turns it into a [`SharedSlice`] again.
pub struct SharedSliceView<'k, T> {
    start: *mut T,
    len: usize,
    scope: PhantomData<&'k mut [T]>,
}

impl<T> Deref for SharedSliceView<'_, T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the storage has `len` initialised elements, which nobody writes until this thread gives the view to a barrier.
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }
}

impl<T: fmt::Debug> fmt::Debug for SharedSliceView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
