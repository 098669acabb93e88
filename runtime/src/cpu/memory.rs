//! Memory of the CPU device: the program's own.

use std::{alloc::Layout, ptr};

use super::{CpuDevice, CpuStream};
use crate::{
    Result,
    backend::{BackendMemory, OfDevice},
};

/// Memory from the program's allocator.
pub(crate) struct CpuMemory {
    start: usize,
    layout: Layout,
}

impl CpuMemory {
    /// # Safety
    /// The allocator gave the memory at `start`, with this layout, to nobody else.
    pub(super) unsafe fn new(start: usize, layout: Layout) -> Self {
        Self { start, layout }
    }
}

impl Drop for CpuMemory {
    fn drop(&mut self) {
        // SAFETY: the allocator gave the memory with this layout, as `new` was promised.
        unsafe { std::alloc::dealloc(ptr::with_exposed_provenance_mut(self.start), self.layout) };
    }
}

impl OfDevice for CpuMemory {
    type Device = CpuDevice;

    fn device(&self) -> &'static CpuDevice {
        CpuDevice::get()
    }
}

impl BackendMemory for CpuMemory {
    unsafe fn copy_to_host(&self, _: &CpuStream, from: usize, to: *mut u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller promises the bytes; memory of the device that can be written is not the program's otherwise.
        unsafe { ptr::copy_nonoverlapping(ptr::with_exposed_provenance(from), to, bytes) };
        Ok(())
    }

    unsafe fn copy_from_host(&self, _: &CpuStream, to: usize, from: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: as above.
        unsafe { ptr::copy_nonoverlapping(from, ptr::with_exposed_provenance_mut(to), bytes) };
        Ok(())
    }

    unsafe fn copy_from_device(
        &self,
        _: &CpuStream,
        to: usize,
        _: &Self,
        from: usize,
        bytes: usize,
    ) -> Result<()> {
        let source = ptr::with_exposed_provenance::<u8>(from);
        // SAFETY: the caller promises the bytes, and that they do not overlap.
        unsafe { ptr::copy_nonoverlapping(source, ptr::with_exposed_provenance_mut(to), bytes) };
        Ok(())
    }
}
