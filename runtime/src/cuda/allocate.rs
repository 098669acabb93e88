//! Allocations of a GPU: from its pool, from the driver, from an allocator, and shared with the host.

use std::{alloc::Layout, ptr::NonNull, sync::Arc};

use cudarc::driver::sys::{self, CUdeviceptr, CUmemAttach_flags, CUresult};

use super::{CudaDevice, CudaMemory, CudaStream, driver, memory::Source, pinned, replay};
use crate::{
    Error, Result, Stream,
    allocator::{DeviceAllocator, device_pointer},
    backend::Backend,
    buffer::Fill,
    memory::Allocation,
    unified::UnifiedKind,
};

impl CudaDevice {
    /// Allocates memory that work on `stream` may use at once, and other work after it.
    pub(super) fn allocate_on(
        &'static self,
        stream: &Arc<CudaStream>,
        bytes: usize,
        fill: Fill,
    ) -> Result<Allocation> {
        replay::refuse("an allocation")?;
        self.bind()?;
        let address = match self.try_allocate(stream, bytes) {
            // Memory freed on other streams becomes available when they are done.
            Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY) if bytes <= self.memory_bytes() => {
                self.wait()?;
                self.try_allocate(stream, bytes)
            }
            first => first,
        };
        let address = address.map_err(|result| self.allocation_failed("cuMemAllocAsync", result, bytes))?;
        self.owned(stream, address, bytes, Source::Device, fill)
    }

    /// Allocates memory as [`allocate_on`](Self::allocate_on), from an allocator.
    pub(super) fn allocate_from(
        &'static self,
        allocator: Arc<dyn DeviceAllocator>,
        stream: &Arc<CudaStream>,
        bytes: usize,
        fill: Fill,
    ) -> Result<Allocation> {
        replay::refuse("an allocation")?;
        self.bind()?;
        let lender = stream.lender();
        let public = Stream::of(self, Arc::clone(lender));
        let start = match allocator.allocate(&public, bytes) {
            Err(Error::OutOfMemory { .. }) => {
                self.reclaim(Some(&*allocator))?;
                allocator.allocate(&public, bytes)?
            }
            result => result?,
        };
        let address = start.as_ptr().expose_provenance() as CUdeviceptr;
        // The owner from here on: it gives the memory back.
        let owned = self.owned(lender, address, bytes, Source::Allocator(allocator, bytes), fill)?;
        if !Arc::ptr_eq(lender, stream) {
            stream.wait_for(lender)?;
        }
        Ok(owned)
    }

    /// Gives the driver back what nobody uses: memory that was freed behind work, and what the allocator and the pool keep for later. Managed memory, that of
    /// other processes, and allocators are not of the pool.
    fn reclaim(&self, allocator: Option<&dyn DeviceAllocator>) -> Result<()> {
        self.wait()?;
        if let Some(allocator) = allocator {
            allocator.trim(0)?;
            // It may have made another context current.
            self.bind()?;
        }
        self.trim(0)
    }

    /// Calls the driver for so many bytes of its own free memory, and once more, if there is too little, after what is kept for later was given back.
    pub(super) fn of_driver(
        &self,
        bytes: usize,
        call: impl Fn() -> Result<CUdeviceptr, CUresult>,
    ) -> Result<Result<CUdeviceptr, CUresult>> {
        let there_is = || self.driver_free_bytes().is_none_or(|free| bytes as u64 <= free);
        let out_of_memory = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        let attempt = || if there_is() { call() } else { Err(out_of_memory) };
        match attempt() {
            Err(result) if result == out_of_memory && bytes <= self.memory_bytes() => {
                self.reclaim(self.allocator().get().as_deref())?;
                Ok(attempt())
            }
            result => Ok(result),
        }
    }

    /// Allocates memory that the host uses, too, where the second place says.
    pub(super) fn allocate_shared(
        &'static self,
        layout: Layout,
        kind: UnifiedKind,
    ) -> Result<(Allocation, NonNull<u8>)> {
        replay::refuse("an allocation")?;
        // First: what it does not share must not be told of one whose context is lost.
        self.bind()?;
        let bytes = layout.size();
        match kind {
            UnifiedKind::Managed => {
                if !self.shares_managed_memory()? {
                    return Err(Error::NoManagedMemory { device: self.describe() });
                }
                let flags = CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL as u32;
                let allocated = self.of_driver(bytes, || {
                    let mut address = 0;
                    // SAFETY: the pointer is to a live integer, and a context is current.
                    allocated(unsafe { sys::cuMemAllocManaged(&mut address, bytes, flags) }, address)
                })?;
                let failed = |result| self.allocation_failed("cuMemAllocManaged", result, bytes);
                let address = allocated.map_err(failed)?;
                let start =
                    device_pointer(address as usize).ok_or_else(|| failed(CUresult::CUDA_ERROR_UNKNOWN))?;
                let owned = self.owned(self.default(), address, bytes, Source::Managed, Fill::Zero)?;
                Ok((owned, start))
            }
            UnifiedKind::Mapped(options) => {
                let start = pinned::allocate(self, layout, options)?;
                let mut address = 0;
                // SAFETY: the pointer is to a live integer, and the memory was just allocated, and so is mapped.
                let result =
                    unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, start.as_ptr().cast(), 0) };
                if let Err(error) = self.check("cuMemHostGetDevicePointer", result) {
                    // SAFETY: it was just allocated, and nobody has it.
                    unsafe { pinned::free(self, start) };
                    return Err(error);
                }
                let source = Source::Mapped(start);
                Ok((self.owned(self.default(), address, bytes, source, Fill::None)?, start))
            }
        }
    }

    /// Takes over memory that work on `stream` may use.
    pub(super) fn owned(
        &'static self,
        stream: &Arc<CudaStream>,
        address: CUdeviceptr,
        bytes: usize,
        source: Source,
        fill: Fill,
    ) -> Result<Allocation> {
        // The owner from here on: it frees the memory if the fill fails.
        let memory = Arc::new(CudaMemory::new(self, address, source, stream));
        // SAFETY: that many bytes were just allocated.
        let allocation = unsafe { Allocation::new::<Self>(address as usize, bytes, Arc::clone(&memory)) };
        if let Fill::Zero = fill {
            // An allocator may have made another context current.
            self.bind()?;
            // SAFETY: the memory has that many bytes, and was allocated on this stream.
            let result = unsafe { sys::cuMemsetD8Async(address, 0, bytes, stream.raw()) };
            self.check("cuMemsetD8Async", result)?;
            // Once more: another thread may have waited for the stream since the first, and this is later.
            memory.is_written_by(stream);
        }
        Ok(allocation)
    }

    /// The error of an allocation of so many bytes.
    pub(super) fn allocation_failed(&self, call: &'static str, result: CUresult, bytes: usize) -> Error {
        match driver::check(result) {
            Err(source) if result != CUresult::CUDA_ERROR_OUT_OF_MEMORY => self.error(call, source),
            _ => Error::OutOfMemory {
                device: self.describe(),
                asked_bytes: bytes as u64,
                free_bytes: self.free_bytes(),
            },
        }
    }

    /// Allocates memory of no pool, by `cuMemAlloc`.
    pub(super) fn allocate_directly(&self, bytes: usize) -> Result<NonNull<u8>> {
        replay::refuse("an allocation")?;
        self.bind()?;
        let mut address = 0;
        let result = match bytes > self.memory_bytes() {
            true => CUresult::CUDA_ERROR_OUT_OF_MEMORY,
            // SAFETY: the pointer is to a live integer, and a context is current.
            false => unsafe { sys::cuMemAlloc_v2(&mut address, bytes) },
        };
        let start = if result == CUresult::CUDA_SUCCESS { device_pointer(address as usize) } else { None };
        start.ok_or_else(|| self.allocation_failed("cuMemAlloc", result, bytes))
    }

    fn try_allocate(&self, stream: &CudaStream, bytes: usize) -> Result<CUdeviceptr, CUresult> {
        if bytes > self.memory_bytes() {
            // The driver's error for sizes beyond its address space is not documented.
            return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        }
        let mut address: CUdeviceptr = 0;
        let result = if self.has_pool() {
            // SAFETY: the pointer is to a live integer; a context is current, and the stream is of it.
            unsafe { sys::cuMemAllocAsync(&mut address, bytes, stream.raw()) }
        } else {
            // SAFETY: as above.
            unsafe { sys::cuMemAlloc_v2(&mut address, bytes) }
        };
        allocated(result, address)
    }
}

/// An address, if the call that wrote it was well.
pub(super) fn allocated(result: CUresult, address: CUdeviceptr) -> Result<CUdeviceptr, CUresult> {
    if result == CUresult::CUDA_SUCCESS { Ok(address) } else { Err(result) }
}
