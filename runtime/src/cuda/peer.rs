//! Two GPUs: access of one to the memory of the other, and copies between them.

use std::{
    ffi::c_int,
    sync::{Arc, Mutex, PoisonError},
};

use cudarc::driver::sys::{self, CUdeviceptr, CUmemAccess_flags, CUmemLocationType, CUresult};
use gpu_std::host::Access;

use super::{CudaDevice, CudaMemory, CudaStream, memory};
use crate::{Error, Result, backend::Backend};

/// `CUmemAccessDesc` as all drivers have it: that of CUDA 13.4's header has a union in it.
#[repr(C)]
struct AccessDescription {
    location_type: CUmemLocationType,
    id: c_int,
    flags: CUmemAccess_flags,
}

/// The GPUs whose memory this one may use.
#[derive(Default)]
pub(super) struct Peers(Mutex<Vec<usize>>);

impl CudaDevice {
    /// Whether this GPU can use the memory of the other without a detour through the host's.
    pub(crate) fn can_access(&self, other: &Self) -> Result<bool> {
        let mut can: c_int = 0;
        // SAFETY: the pointer is to a live integer, and the devices are ones the driver gave.
        let result = unsafe { sys::cuDeviceCanAccessPeer(&mut can, self.ordinal(), other.ordinal()) };
        self.check("cuDeviceCanAccessPeer", result).map(|()| can != 0)
    }

    /// Lets this GPU use the memory of the other.
    ///
    /// # Errors
    /// [`Error::NoPeerAccess`] if it cannot.
    pub(crate) fn enable_access(&self, other: &Self) -> Result<()> {
        let mut peers = self.peers().0.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.contains(&other.index()) {
            return Ok(());
        }
        if !self.can_access(other)? {
            return Err(Error::NoPeerAccess { device: self.describe(), peer: other.describe() });
        }
        self.bind()?;
        // SAFETY: both contexts are retained as long as the process lives.
        match unsafe { sys::cuCtxEnablePeerAccess(other.context(), 0) } {
            // By others in this process.
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => {}
            result => self.check("cuCtxEnablePeerAccess", result)?,
        }
        if let Some(pool) = other.pool() {
            let access = AccessDescription {
                location_type: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: self.ordinal(),
                flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            };
            let access = (&raw const access).cast();
            // SAFETY: the pool is the other device's own, and there is one description, laid out as that of the driver.
            let result = unsafe { sys::cuMemPoolSetAccess(pool, access, 1) };
            self.check("cuMemPoolSetAccess", result)?;
        }
        peers.push(other.index());
        Ok(())
    }
}

/// Queues a copy between memory of two GPUs on a stream of one of them.
///
/// # Safety
/// At both addresses are that many bytes, each in its memory.
pub(crate) unsafe fn copy(
    stream: &Arc<CudaStream>,
    (to_memory, to): (&Arc<CudaMemory>, usize),
    (from_memory, from): (&Arc<CudaMemory>, usize),
    bytes: usize,
) -> Result<()> {
    let (to_context, from_context) = (to_memory.gpu().context(), from_memory.gpu().context());
    memory::ordered(stream, &[(to_memory, Access::Write), (from_memory, Access::Read)], |stream| {
        let (to, from) = (to as CUdeviceptr, from as CUdeviceptr);
        // SAFETY: the caller promises the bytes. Both allocations outlive the copy: they are freed in stream order.
        let result =
            unsafe { sys::cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, stream.raw()) };
        stream.device().check("cuMemcpyPeerAsync", result)
    })
}
