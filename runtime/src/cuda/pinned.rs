//! Memory of the host that the system does not move, so that a GPU copies it by itself.

use std::{
    alloc::Layout,
    ffi::c_void,
    ptr::{self, NonNull},
};

use cudarc::driver::sys::{self, CUresult};

use super::CudaDevice;
use crate::{Error, Result, backend::Backend, pinned::PinnedOptions};

/// Allocates memory, all zero, aligned to pages.
pub(super) fn allocate(
    device: &'static CudaDevice,
    layout: Layout,
    options: PinnedOptions,
) -> Result<NonNull<u8>> {
    device.bind()?;
    let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
    let flags = flag(options.is_portable, sys::CU_MEMHOSTALLOC_PORTABLE)
        | flag(options.is_write_combined, sys::CU_MEMHOSTALLOC_WRITECOMBINED);
    let mut start: *mut c_void = ptr::null_mut();
    // SAFETY: the pointer is to a live pointer, and a context is current.
    let result = unsafe { sys::cuMemHostAlloc(&mut start, layout.size(), flags) };
    let out_of_memory = || Error::OutOfMemory {
        // The free memory of the GPU says nothing of the host's.
        device: format!("the host, for memory that {} copies by itself,", device.describe()),
        asked_bytes: layout.size() as u64,
        free_bytes: None,
    };
    if result != CUresult::CUDA_ERROR_OUT_OF_MEMORY {
        device.check("cuMemHostAlloc", result)?;
    }
    let start = NonNull::new(start.cast::<u8>()).ok_or_else(out_of_memory)?;
    // SAFETY: that many bytes were just allocated.
    unsafe { ptr::write_bytes(start.as_ptr(), 0, layout.size()) };
    Ok(start)
}

/// # Safety
/// [`allocate`] gave the memory, and nobody uses it any more.
pub(super) unsafe fn free(device: &'static CudaDevice, start: NonNull<u8>) {
    if device.bind().is_ok() {
        // SAFETY: as the caller promises. A drop cannot return the error.
        let _ = unsafe { sys::cuMemFreeHost(start.as_ptr().cast()) };
    }
}

/// # Safety
/// The memory is there until [`unpin`].
pub(super) unsafe fn pin(device: &'static CudaDevice, start: NonNull<u8>, bytes: usize) -> Result<()> {
    device.bind()?;
    // SAFETY: as the caller promises.
    let result =
        unsafe { sys::cuMemHostRegister_v2(start.as_ptr().cast(), bytes, sys::CU_MEMHOSTREGISTER_PORTABLE) };
    device.check("cuMemHostRegister", result)
}

/// # Safety
/// The memory was pinned.
pub(super) unsafe fn unpin(device: &'static CudaDevice, start: NonNull<u8>) {
    if device.bind().is_ok() {
        // SAFETY: as the caller promises. A drop cannot return the error.
        let _ = unsafe { sys::cuMemHostUnregister(start.as_ptr().cast()) };
    }
}
