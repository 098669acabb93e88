//! Two GPUs: access of one to the memory of the other, and copies between them.

use std::{
    ffi::c_int,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cudarc::driver::sys::{self, CUdeviceptr, CUmemAccess_flags, CUmemLocationType, CUmemoryPool, CUresult};
use gpu_std::host::Access;

use super::{
    CudaDevice, CudaMemory, CudaStream,
    memory::{self, Source},
    pool::CudaPool,
};
use crate::{
    Device, Error, Result,
    backend::{Backend, OfDevice},
};

/// `CUmemAccessDesc` as all drivers have it: that of CUDA 13.4's header has a union in it.
#[repr(C)]
struct AccessDescription {
    location_type: CUmemLocationType,
    id: c_int,
    flags: CUmemAccess_flags,
}

/// GPUs by number: those whose memory one may use, or those that may use a pool.
#[derive(Default)]
pub(super) struct Peers(Mutex<Vec<usize>>);

impl Peers {
    fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn contains(&self, device: &CudaDevice) -> bool {
        self.lock().contains(&device.index())
    }
}

/// Lets a GPU use the memory of a pool of another one, also what was allocated from it before.
///
/// # Safety
/// The pool is there.
unsafe fn open_pool(pool: CUmemoryPool, to: &CudaDevice) -> Result<()> {
    let access = AccessDescription {
        location_type: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        id: to.ordinal(),
        flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    // SAFETY: as the caller promises; there is one description, laid out as that of the driver.
    let result = unsafe { sys::cuMemPoolSetAccess(pool, (&raw const access).cast(), 1) };
    to.check("cuMemPoolSetAccess", result)
}

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
        let mut peers = self.peers().lock();
        if peers.contains(&other.index()) {
            return Ok(());
        }
        self.must_access(other)?;
        self.bind()?;
        // SAFETY: both contexts are retained as long as the process lives.
        match unsafe { sys::cuCtxEnablePeerAccess(other.context(), 0) } {
            // By others in this process.
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => {}
            result => self.check("cuCtxEnablePeerAccess", result)?,
        }
        if let Some(pool) = other.pool() {
            // SAFETY: the pool is the other device's own.
            unsafe { open_pool(pool, self)? };
        }
        peers.push(other.index());
        Ok(())
    }

    /// # Errors
    /// [`Error::NoPeerAccess`]
    fn must_access(&self, other: &Self) -> Result<()> {
        match self.can_access(other)? {
            true => Ok(()),
            false => Err(Error::NoPeerAccess { device: self.describe(), peer: other.describe() }),
        }
    }

    /// Why kernels of this GPU cannot use memory of another one; none if they can.
    ///
    /// The driver does not tell: `CU_POINTER_ATTRIBUTE_ACCESS_FLAGS` is read and write for all memory of another GPU, also before any access was enabled
    /// (driver 580, two H100).
    pub(super) fn refuses_memory(&'static self, memory: &CudaMemory) -> Option<&'static str> {
        if !self.peers().contains(memory.gpu()) {
            return Some(
                "it has no access to that; call `enable_peer_access` of its device if `can_access_peer` says that it can, or copy with \
                 `Stream::copy_peer`",
            );
        }
        match memory.source() {
            // The device's pool is open, and memory of no pool comes with the access to the context.
            Source::Device | Source::Mapped(_) => None,
            Source::Managed if self.shares_managed_memory().unwrap_or(false) => None,
            Source::Managed => Some("its managed memory does not work beside that of others; use buffers"),
            Source::Allocator(allocator, _) => {
                let is_accessible = allocator.is_accessible_from(&Device::of(self));
                (!is_accessible).then_some(
                    "the allocator of the buffer gives it no access (`DeviceAllocator::is_accessible_from`); call \
                     `PoolAllocator::enable_peer_access`, use another allocator, or copy with `Stream::copy_peer`",
                )
            }
            Source::Foreign(_) => Some(
                "another library, or another process, allocated the memory, and who has access to it is not known; copy with \
                 `Stream::copy_peer`",
            ),
        }
    }
}

impl CudaPool {
    /// Lets another GPU use its memory.
    ///
    /// # Errors
    /// [`Error::NoPeerAccess`] if it cannot.
    pub(crate) fn enable_access(&self, by: &CudaDevice) -> Result<()> {
        let mut peers = self.peers().lock();
        if peers.contains(&by.index()) {
            return Ok(());
        }
        by.must_access(self.device())?;
        self.device().bind()?;
        // SAFETY: the pool is there as long as this.
        unsafe { open_pool(self.raw(), by)? };
        peers.push(by.index());
        Ok(())
    }

    /// Whether another GPU may use its memory.
    pub(crate) fn is_accessible_from(&self, peer: &CudaDevice) -> bool {
        self.peers().contains(peer)
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
