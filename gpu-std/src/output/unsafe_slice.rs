//! Device memory without compile-time race freedom, accessed by `unsafe` code.

use core::marker::PhantomData;

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, Memory, PackedArgs, Runtime, Watch};
use crate::{DeviceCopy, param::Param, signature::Text, thread::unchecked::unchecked};

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

unchecked! { UnsafeSlice: [] [], elements are DeviceCopy, "" = |memory| memory.len }

#[cfg(not(target_arch = "nvptx64"))]
impl<T> UnsafeSlice<'_, T> {
    /// What a race is reported as.
    const MEMORY: Memory = Memory::Device;
}

// SAFETY: `pack` takes a slice that the runtime borrows exclusively for the launch; its threads keep out of each other's way as
// `get` and `set` ask them to.
unsafe impl<'k, T: DeviceCopy> Param<'k> for UnsafeSlice<'k, T> {
    type Head = *mut T;
    type Tail = usize;

    const SIGNATURE: Text = Text::Of("UnsafeSlice", &[T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(start: *mut T, &len: &'k usize) -> Self {
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
        args.push_slice(R::raw_slice(arg), Access::Write);
    }
}
