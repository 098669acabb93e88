//! Memory as the driver gives it.

use std::ptr::{self, NonNull};

use super::DeviceAllocator;
use crate::{
    Device, Result, Stream,
    backend::{Backend, OfDevice, each},
};

/// Allocates by `cudaMalloc` and `cudaFree`; on the CPU device, by the program's allocator. Each call takes tens of microseconds to milliseconds on a
/// GPU, and freeing waits for the stream: the bottom of other allocators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias = "cudaMalloc", alias = "cuda_memory_resource")]
pub struct DirectAllocator;

// SAFETY: the device gives the memory, and gets it back in the order of the stream.
unsafe impl DeviceAllocator for DirectAllocator {
    fn allocate(&self, stream: &Stream, bytes: usize) -> Result<NonNull<u8>> {
        stream.not_captured("an allocation")?;
        each!(&stream.backend, stream => stream.device().allocate_direct(bytes))
    }

    unsafe fn deallocate(&self, stream: &Stream, start: NonNull<u8>, bytes: usize) {
        // SAFETY: as the caller promises.
        each!(&stream.backend, stream => unsafe { stream.device().free_direct(stream, start, bytes) });
    }

    fn is_accessible_from(&self, _: &Device) -> bool {
        true
    }
}

/// A device's address as allocators have it.
pub(crate) fn device_pointer(address: usize) -> Option<NonNull<u8>> {
    NonNull::new(ptr::with_exposed_provenance_mut(address))
}
