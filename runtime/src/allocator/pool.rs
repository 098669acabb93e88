//! Pools of stream-ordered allocations.

use std::{
    fmt,
    ptr::{self, NonNull},
    sync::atomic::{AtomicU64, Ordering},
};

use super::DeviceAllocator;
use crate::{
    Device, Error, Result, Stream,
    backend::{Any, Backend, OfDevice, Pools, StreamOf, each},
};

/// A device's pool.
pub(crate) trait BackendPool: OfDevice + Send + Sync {
    fn allocate(&self, stream: &StreamOf<Self>, bytes: usize) -> Result<NonNull<u8>>;

    /// # Safety
    /// As [`DeviceAllocator::deallocate`].
    unsafe fn free(&self, stream: &StreamOf<Self>, start: NonNull<u8>, bytes: usize);

    fn trim(&self, keep_bytes: usize) -> Result<()>;
}

/// A pool of its own for stream-ordered allocations (`cudaMemPoolCreate`, `cudaMallocFromPoolAsync`), with limits: an allocation takes a microsecond once the pool
/// has memory. On the CPU device it is the program's allocator with the limit.
///
/// ```
/// use std::sync::Arc;
///
/// use gpukernel::{Device, Error, allocator::PoolAllocator};
///
/// let device = Device::cpu();
/// device.set_allocator(Arc::new(PoolAllocator::new(&device)?.max_bytes(1 << 20)));
/// let half = device.zeroed::<u8>(1 << 19)?;
/// assert!(matches!(device.zeroed::<u8>(1 << 20), Err(Error::OutOfMemory { .. })));
/// # drop(half);
/// # device.reset_allocator();
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[doc(
    alias = "cudaMemPool_t",
    alias = "cudaMemPoolCreate",
    alias = "cudaMallocFromPoolAsync",
    alias = "cuda_async_memory_resource"
)]
pub struct PoolAllocator {
    pool: Any<Pools>,
    max_bytes: u64,
    used_bytes: AtomicU64,
}

impl PoolAllocator {
    /// A pool without a limit, which keeps what is freed for later.
    ///
    /// # Errors
    /// [`Error::Driver`], among others on a GPU that has no such pools.
    pub fn new(device: &Device) -> Result<Self> {
        let pool = each!(&device.backend, device => wrap(*device)?);
        Ok(Self { pool, max_bytes: u64::MAX, used_bytes: AtomicU64::new(0) })
    }

    /// Refuses what would be more than so many bytes of all its buffers.
    pub fn max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// Lets kernels of another GPU use its memory (`cudaMemPoolSetAccess`), once that GPU has [access](Device::enable_peer_access) to the pool's. Again has no effect.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    ///
    /// use gpukernel::{Device, allocator::PoolAllocator};
    ///
    /// let (first, second) = (Device::gpu(0)?, Device::gpu(1)?);
    /// first.enable_peer_access(&second)?;
    /// let pool = PoolAllocator::new(&second)?;
    /// pool.enable_peer_access(&first)?;
    /// second.set_allocator(Arc::new(pool));
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::enable_peer_access`].
    #[doc(alias = "cudaMemPoolSetAccess", alias = "cuMemPoolSetAccess")]
    pub fn enable_peer_access(&self, by: &Device) -> Result<()> {
        match (&self.pool, &by.backend) {
            (Any::Cuda(pool), Any::Cuda(peer)) if !ptr::eq(pool.device(), *peer) => pool.enable_access(peer),
            _ => {
                let own = each!(&self.pool, pool => Device::of(pool.device()));
                Err(Error::NoPeerAccess { device: by.to_string(), peer: own.to_string() })
            }
        }
    }

    /// Bytes of its buffers.
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }
}

fn wrap<B: Backend>(device: &'static B) -> Result<Any<Pools>> {
    device.new_pool().map(B::wrap)
}

// SAFETY: the device's pool gives the memory, and gets it back in the order of the stream.
unsafe impl DeviceAllocator for PoolAllocator {
    fn allocate(&self, stream: &Stream, bytes: usize) -> Result<NonNull<u8>> {
        stream.not_captured("an allocation")?;
        each!(&self.pool, pool => {
            let device = pool.device();
            let stream = Stream::or_default(Some(stream), device, &|| "an allocation from a pool".to_owned())?;
            let more = |used: u64| used.checked_add(bytes as u64).filter(|used| *used <= self.max_bytes);
            if let Err(used) = self.used_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
                return Err(Error::OutOfMemory {
                    device: format!("a pool of {} bytes on {}", self.max_bytes, Device::of(device)),
                    asked_bytes: bytes as u64,
                    free_bytes: Some(self.max_bytes - used),
                });
            }
            pool.allocate(stream, bytes).inspect_err(|_| {
                self.used_bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
            })
        })
    }

    unsafe fn deallocate(&self, stream: &Stream, start: NonNull<u8>, bytes: usize) {
        self.used_bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
        each!(&self.pool, pool => {
            // Of the same device, as `allocate` checked.
            if let Some(stream) = pool.device().own(&stream.backend) {
                // SAFETY: as the caller promises.
                unsafe { pool.free(stream, start, bytes) };
            }
        });
    }

    fn is_accessible_from(&self, peer: &Device) -> bool {
        match (&self.pool, &peer.backend) {
            (Any::Cuda(pool), Any::Cuda(peer)) => pool.is_accessible_from(peer),
            _ => false,
        }
    }

    /// Of memory that no buffer has.
    fn trim(&self, keep_bytes: usize) -> Result<()> {
        each!(&self.pool, pool => pool.trim(keep_bytes))
    }
}

impl fmt::Debug for PoolAllocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolAllocator")
            .field("device", &each!(&self.pool, pool => Device::of(pool.device())))
            .field("max_bytes", &self.max_bytes)
            .field("used_bytes", &self.used_bytes())
            .finish()
    }
}
