//! Memory of the CPU device: the program's own.

use std::{
    alloc::Layout,
    ptr::{self, NonNull},
    sync::Arc,
};

use gpu_std::host::Access;

use super::{CpuDevice, CpuStream};
use crate::{
    Device, MemoryAdvice, Result,
    allocator::{BackendPool, DeviceAllocator},
    backend::{Backend, BackendMemory, OfDevice},
    fill::Pattern,
    view::Rows,
};

/// Memory of a buffer.
pub(crate) struct CpuMemory {
    start: usize,
    layout: Layout,
    /// None: the program's.
    allocator: Option<Arc<dyn DeviceAllocator>>,
}

impl CpuMemory {
    /// # Safety
    /// The allocator, or the program's, gave the memory at `start`, with this layout, to nobody else.
    pub(super) unsafe fn new(
        start: usize,
        layout: Layout,
        allocator: Option<Arc<dyn DeviceAllocator>>,
    ) -> Self {
        Self { start, layout, allocator }
    }
}

impl Drop for CpuMemory {
    fn drop(&mut self) {
        let start = ptr::with_exposed_provenance_mut(self.start);
        match (&self.allocator, NonNull::new(start)) {
            (Some(allocator), Some(start)) => {
                let stream = Device::cpu().default_stream();
                // SAFETY: it gave the memory for so many bytes, as `new` was promised, and nobody uses it.
                unsafe { allocator.deallocate(&stream, start, self.layout.size()) };
            }
            // SAFETY: the program's allocator gave the memory with this layout, as `new` was promised.
            _ => unsafe { std::alloc::dealloc(start, self.layout) },
        }
    }
}

/// A pool: the program's allocator.
pub(crate) struct CpuPool;

impl OfDevice for CpuPool {
    type Device = CpuDevice;

    fn device(&self) -> &'static CpuDevice {
        CpuDevice::get()
    }
}

impl BackendPool for CpuPool {
    fn allocate(&self, _: &CpuStream, bytes: usize) -> Result<NonNull<u8>> {
        self.device().allocate_direct(bytes)
    }

    unsafe fn free(&self, _: &CpuStream, start: NonNull<u8>, bytes: usize) {
        // SAFETY: as the caller promises: there is no work that is not done.
        unsafe { self.device().free_direct(start, bytes) };
    }

    fn trim(&self, _: usize) -> Result<()> {
        Ok(())
    }
}

impl OfDevice for CpuMemory {
    type Device = CpuDevice;

    fn device(&self) -> &'static CpuDevice {
        CpuDevice::get()
    }
}

impl BackendMemory for CpuMemory {
    fn wait(&self, _: Access) -> Result<()> {
        self.device().told()
    }

    fn prefetch(&self, _: &CpuStream, _: usize, _: Option<i32>) -> Result<()> {
        Ok(())
    }

    fn advise(&self, _: usize, _: &MemoryAdvice, _: Option<i32>) -> Result<()> {
        Ok(())
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

    unsafe fn fill(&self, _: &CpuStream, to: usize, pattern: Pattern, count: usize) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { pattern.fill(to, count) };
        Ok(())
    }

    unsafe fn copy_rows_to_host(
        &self,
        _: &CpuStream,
        from: usize,
        from_rows: Rows,
        to: *mut u8,
        to_rows: Rows,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { copy_rows(ptr::with_exposed_provenance(from), from_rows, to, to_rows) };
        Ok(())
    }

    unsafe fn copy_rows_from_host(
        &self,
        _: &CpuStream,
        to: usize,
        to_rows: Rows,
        from: *const u8,
        from_rows: Rows,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { copy_rows(from, from_rows, ptr::with_exposed_provenance_mut(to), to_rows) };
        Ok(())
    }

    unsafe fn copy_rows_from_device(
        &self,
        _: &CpuStream,
        (to, to_rows): (usize, Rows),
        _: &Self,
        (from, from_rows): (usize, Rows),
    ) -> Result<()> {
        let (from, to) = (ptr::with_exposed_provenance(from), ptr::with_exposed_provenance_mut(to));
        // SAFETY: as the caller promises.
        unsafe { copy_rows(from, from_rows, to, to_rows) };
        Ok(())
    }
}

/// # Safety
/// At both addresses are these rows, as many and as long, those at `to` to be written, and no row is on both sides.
pub(super) unsafe fn copy_rows(from: *const u8, from_rows: Rows, to: *mut u8, to_rows: Rows) {
    for (from_offset, to_offset) in from_rows.offsets().zip(to_rows.offsets()) {
        // SAFETY: the rows are there, as the caller promises.
        unsafe { ptr::copy_nonoverlapping(from.add(from_offset), to.add(to_offset), to_rows.row_bytes) };
    }
}
