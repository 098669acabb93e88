//! Memory of the CPU device: the program's own.

use std::{alloc::Layout, ptr};

use super::{CpuDevice, CpuStream};
use crate::{
    Result,
    backend::{BackendMemory, OfDevice},
};

/// The layout to give memory back with.
pub(crate) struct CpuMemory(pub(super) Layout);

impl OfDevice for CpuMemory {
    type Device = CpuDevice;

    fn device(&self) -> &'static CpuDevice {
        CpuDevice::get()
    }
}

impl BackendMemory for CpuMemory {
    unsafe fn free(&mut self, address: usize) {
        // SAFETY: the caller promises that the address came from the allocator, with this layout.
        unsafe { std::alloc::dealloc(ptr::with_exposed_provenance_mut(address), self.0) };
    }

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
