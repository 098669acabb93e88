//! Pools of a GPU: stream-ordered allocations.

use std::{
    ffi::{c_int, c_void},
    mem,
    ptr::{self, NonNull},
    sync::Arc,
};

use cudarc::driver::sys::{
    self, CUmemAllocationType, CUmemLocation, CUmemLocationType, CUmemPool_attribute as PoolAttribute,
    CUmemPoolProps, CUmemoryPool, CUresult,
};

use super::{CudaDevice, CudaStream, peer::Peers, replay};
use crate::{
    Result,
    allocator::{BackendPool, device_pointer},
    backend::OfDevice,
};

/// A pool of its own.
pub(crate) struct CudaPool {
    device: &'static CudaDevice,
    raw: CUmemoryPool,
    /// The GPUs that may use its memory.
    peers: Peers,
}

// SAFETY: a pool is a handle that any thread may use.
unsafe impl Send for CudaPool {}
// SAFETY: as above.
unsafe impl Sync for CudaPool {}

impl CudaPool {
    pub(super) fn new(device: &'static CudaDevice) -> Result<Self> {
        device.bind()?;
        // Without a limit, which older drivers do not know.
        // SAFETY: numbers, and a pointer that may be null. Zero is no handle type, and nothing that later drivers would ask for.
        let mut properties: CUmemPoolProps = unsafe { mem::zeroed() };
        properties.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = place_of(Some(device.ordinal()));
        let mut raw: CUmemoryPool = ptr::null_mut();
        // SAFETY: the pointers are to a live handle and to properties that say what they are.
        let result = unsafe { sys::cuMemPoolCreate(&mut raw, &properties) };
        device.check("cuMemPoolCreate", result)?;
        let pool = Self { device, raw, peers: Peers::default() };
        device.check("cuMemPoolSetAttribute", keep_all(raw))?;
        Ok(pool)
    }

    pub(super) fn raw(&self) -> CUmemoryPool {
        self.raw
    }

    pub(super) fn peers(&self) -> &Peers {
        &self.peers
    }
}

/// A place of memory.
fn place(kind: CUmemLocationType, ordinal: c_int) -> CUmemLocation {
    // SAFETY: numbers, of which zero is a kind that no driver takes.
    let mut location: CUmemLocation = unsafe { mem::zeroed() };
    location.type_ = kind;
    location.__bindgen_anon_1.id = ordinal;
    location
}

/// The place of a GPU, by the driver's number, or of the host.
pub(super) fn place_of(gpu: Option<c_int>) -> CUmemLocation {
    match gpu {
        Some(ordinal) => place(CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, ordinal),
        None => place(CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, 0),
    }
}

/// Lets a pool keep freed memory: by default it gives everything back to the system at each synchronisation, and new buffers then cost
/// milliseconds.
pub(super) fn keep_all(pool: CUmemoryPool) -> CUresult {
    let mut keep = u64::MAX;
    let attribute = PoolAttribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the pool is there, and this attribute is a 64-bit integer.
    unsafe { sys::cuMemPoolSetAttribute(pool, attribute, (&raw mut keep).cast::<c_void>()) }
}

impl OfDevice for CudaPool {
    type Device = CudaDevice;

    fn device(&self) -> &'static CudaDevice {
        self.device
    }
}

impl BackendPool for CudaPool {
    fn allocate(&self, stream: &Arc<CudaStream>, bytes: usize) -> Result<NonNull<u8>> {
        replay::refuse("an allocation")?;
        self.device.bind()?;
        let mut address = 0;
        let result = match bytes > self.device.memory_bytes() {
            // The driver's error for sizes beyond its address space is not documented.
            true => CUresult::CUDA_ERROR_OUT_OF_MEMORY,
            // SAFETY: the pointer is to a live integer; a context is current, and stream and pool are of its device.
            false => unsafe { sys::cuMemAllocFromPoolAsync(&mut address, bytes, self.raw, stream.raw()) },
        };
        let failed = || self.device.allocation_failed("cuMemAllocFromPoolAsync", result, bytes);
        let start = if result == CUresult::CUDA_SUCCESS { device_pointer(address as usize) } else { None };
        start.ok_or_else(failed)
    }

    unsafe fn free(&self, stream: &Arc<CudaStream>, start: NonNull<u8>, _: usize) {
        if self.device.bind().is_ok() {
            // SAFETY: the memory is the pool's, and is used no more after what is queued on the stream. A drop cannot return the error.
            let _ = unsafe { sys::cuMemFreeAsync(start.as_ptr().addr() as u64, stream.raw()) };
        }
    }

    fn trim(&self, keep_bytes: usize) -> Result<()> {
        // What was freed in the order of a stream is the pool's when the stream is there.
        self.device.wait()?;
        // SAFETY: the pool is there, and a context is current.
        self.device.check("cuMemPoolTrimTo", unsafe { sys::cuMemPoolTrimTo(self.raw, keep_bytes) })
    }
}

impl Drop for CudaPool {
    /// Waits for frees that are queued: a driver (580.159) that is asked to destroy a pool before them crashes in a later allocation from another pool, under
    /// compute-sanitizer at least, although it may be asked to.
    fn drop(&mut self) {
        if self.device.wait().is_ok() {
            // SAFETY: nobody uses the pool any more, and all its memory is freed. A drop cannot return the error.
            let _ = unsafe { sys::cuMemPoolDestroy(self.raw) };
        }
    }
}
