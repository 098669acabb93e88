//! Contiguous inputs.

use core::{marker::PhantomData, mem::MaybeUninit, slice};

use super::{align_of_lanes, inputs::ChunkInput, load};
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, OrScalar, PackedArgs, RawSlice, Runtime};
use crate::{
    DeviceCopy,
    param::{Param, ReadStart},
    signature::Text,
};

/// An input that is a slice, which is not written during the launch, or one value for all positions.
///
/// The launch passes `OrScalar::Memory(&slice)` or `OrScalar::Scalar(value)`.
///
/// ```
/// use gpu_std::{elementwise::*, prelude::*};
///
/// #[kernel]
/// pub fn add(a: SliceOrScalar<f32>, b: SliceOrScalar<f32>, out: PerThreadChunks<f32, 4>) {
///     out.map((a, b), |(a, b)| a + b);
/// }
/// ```
pub struct SliceOrScalar<'k, T> {
    start: *const T,
    tail: SliceTail<T>,
    lender: PhantomData<&'k [T]>,
}

/// What is transferred besides the address.
#[doc(hidden)]
#[repr(C)]
pub struct SliceTail<T> {
    /// The number of elements; [`SCALAR`] for a value.
    len: usize,
    /// The value, if it is one.
    value: MaybeUninit<T>,
}

/// In place of a length, which is at most `isize::MAX`.
const SCALAR: usize = usize::MAX;

impl<T: Copy> Clone for SliceTail<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for SliceTail<T> {}

// SAFETY: plain data in a fixed layout.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceCopy> DeviceCopy for SliceTail<T> {
    const TYPE: Text = Text::Of("gpu_std::elementwise::SliceTail", &[T::TYPE]);
}

impl<T> core::fmt::Debug for SliceTail<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SliceTail").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<'k, T: DeviceCopy> SliceOrScalar<'k, T> {
    #[inline(always)]
    fn is_scalar(&self) -> bool {
        self.tail.len == SCALAR
    }

    /// Returns the value, if the input is one for all positions.
    #[inline(always)]
    pub fn scalar(&self) -> Option<T> {
        // SAFETY: `pack` writes a value with this length.
        self.is_scalar().then(|| unsafe { self.tail.value.assume_init() })
    }

    /// Returns the slice, if the input is one.
    #[inline(always)]
    pub fn slice(&self) -> Option<&'k [T]> {
        // SAFETY: `pack` writes the length of a slice that lives as long as the launch, and nobody writes it.
        (!self.is_scalar()).then(|| unsafe { slice::from_raw_parts(self.start, self.tail.len) })
    }
}

impl<T: DeviceCopy> ChunkInput for SliceOrScalar<'_, T> {
    type Item = T;

    #[inline(always)]
    fn covers(&self, len: usize) -> bool {
        // The length of a value is more than any.
        self.tail.len >= len
    }

    #[inline(always)]
    fn is_aligned<const N: usize>(&self) -> bool {
        self.is_scalar() || self.start.addr() & (align_of_lanes::<T, N>() - 1) == 0
    }

    #[inline(always)]
    unsafe fn get(&self, position: usize) -> T {
        // SAFETY: the caller promises that the element is there; a value is written with its length.
        unsafe {
            if self.is_scalar() { self.tail.value.assume_init() } else { self.start.add(position).read() }
        }
    }

    #[inline(always)]
    unsafe fn lanes<const N: usize>(&self, position: usize) -> [T; N] {
        // SAFETY: as above; the address of an aligned chunk of an aligned slice is aligned.
        unsafe {
            if self.is_scalar() { [self.tail.value.assume_init(); N] } else { load(self.start.add(position)) }
        }
    }
}

impl<T: Copy> Clone for SliceOrScalar<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for SliceOrScalar<'_, T> {}

impl<T> core::fmt::Debug for SliceOrScalar<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SliceOrScalar").field("tail", &self.tail).finish_non_exhaustive()
    }
}

// SAFETY: `pack` takes a slice that the runtime borrows shared for the launch, so that nobody writes it, or a value.
unsafe impl<'k, T: DeviceCopy> Param<'k> for SliceOrScalar<'k, T> {
    type Head = ReadStart<'k, T>;
    type Tail = SliceTail<T>;

    const SIGNATURE: Text = Text::Of("SliceOrScalar", &[T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(head: ReadStart<'k, T>, &tail: &'k SliceTail<T>) -> Self {
        Self { start: head.as_ptr(), tail, lender: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = OrScalar<&'k R::Slice<T>, T>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        match arg {
            OrScalar::Memory(slice) => {
                let slice = R::raw_slice(slice);
                args.push_memory(slice, Access::Read);
                args.push(SliceTail::<T> { len: slice.len, value: MaybeUninit::uninit() });
            }
            OrScalar::Scalar(value) => {
                args.push_memory(RawSlice::none::<T>(), Access::Read);
                args.push(SliceTail { len: SCALAR, value: MaybeUninit::new(value) });
            }
        }
    }
}
