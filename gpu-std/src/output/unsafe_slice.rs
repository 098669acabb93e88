//! Device memory without compile-time race freedom, accessed by `unsafe` code.

use core::{fmt, marker::PhantomData};

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, Memory, PackedArgs, Runtime, Watch};
use crate::{DeviceCopy, param::Param, signature::Text};

/// Device memory that every thread may read and write, as through a pointer in CUDA C++: the kernel has to rule out data
/// races. For patterns that no safe type expresses, such as scattering to positions that are known to be distinct.
///
/// The launch passes `&mut` memory of `T`. Accesses are `unsafe`, and their indices are checked. On the CPU device, with
/// `GPUKERNEL_CHECK=1` in the environment, a race is an error that names both threads and both source locations; accesses
/// through raw pointers are not checked.
///
/// ```
/// use gpu_std::prelude::{*, memory::*};
///
/// /// Puts each element where `places` says.
/// ///
/// /// # Safety
/// /// The values in `places` are distinct.
/// #[kernel]
/// pub unsafe fn scatter(x: &[f32], places: &[u32], y: UnsafeSlice<f32>) {
///     for i in grid_stride(x.len()) {
///         // SAFETY: only this thread has this place, as the launch promises.
///         unsafe { y.set(places[i] as usize, x[i]) };
///     }
/// }
/// ```
pub struct UnsafeSlice<'a, T> {
    start: *mut T,
    len: usize,
    #[cfg(not(target_arch = "nvptx64"))]
    watch: Watch,
    lender: PhantomData<&'a mut [T]>,
}

impl<T> Clone for UnsafeSlice<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for UnsafeSlice<'_, T> {}

impl<T> fmt::Debug for UnsafeSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeSlice").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<T: DeviceCopy> UnsafeSlice<'_, T> {
    /// Returns the number of elements.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns the element `index`.
    ///
    /// # Safety
    /// No other thread writes it at the same time: other writes are ordered before or after it by a barrier of the block, by
    /// releasing and acquiring atomics, or by the launch.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn get(self, index: usize) -> T {
        let at = self.at(index);
        #[cfg(not(target_arch = "nvptx64"))]
        self.watch.touch(Memory::Device, at, index, Access::Read);
        // SAFETY: the element is there; the caller promises that nobody writes it now.
        unsafe { at.read() }
    }

    /// Writes the element `index`.
    ///
    /// # Safety
    /// No other thread reads or writes it at the same time, as for [`get`](Self::get).
    ///
    /// # Panics
    /// If `index` is out of bounds.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn set(self, index: usize, value: T) {
        let at = self.at(index);
        #[cfg(not(target_arch = "nvptx64"))]
        self.watch.touch(Memory::Device, at, index, Access::Write);
        // SAFETY: the element is there; the caller promises that nobody else uses it now.
        unsafe { at.write(value) };
    }

    /// Returns the address of the first element. Accesses through it are not checked.
    #[inline(always)]
    pub fn as_mut_ptr(self) -> *mut T {
        self.start
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn at(self, index: usize) -> *mut T {
        assert!(index < self.len, "index out of bounds: the len is {} but the index is {index}", self.len);
        // SAFETY: the index is less than the length.
        unsafe { self.start.add(index) }
    }
}

// SAFETY: `pack` takes a slice that the runtime borrows exclusively for the launch; its threads keep out of each other's way as
// `get` and `set` ask them to.
unsafe impl<'k, T: DeviceCopy> Param<'k> for UnsafeSlice<'k, T> {
    type Head = *mut T;
    type Tail = usize;

    const SIGNATURE: Text = Text::Of("UnsafeSlice", &[T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(start: *mut T, len: usize) -> Self {
        Self {
            start,
            len,
            #[cfg(not(target_arch = "nvptx64"))]
            watch: Watch::new(),
            lender: PhantomData,
        }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = &'k mut R::Slice<T>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: &'k mut R::Slice<T>, args: &mut PackedArgs) {
        let slice = R::raw_slice(arg);
        args.push_memory(slice, Access::Write);
        args.push(slice.len);
    }
}
