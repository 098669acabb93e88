//! Where the memory of buffers comes from: allocators, replaceable per device ([`Device::set_allocator`]).
//!
//! Allocators are stacked: [`CachingAllocator`] and [`DeferredFrees`] have their memory from another, at the bottom of which is [`DirectAllocator`]
//! or [`PoolAllocator`]. Your own can do the same.
//!
//! ```
//! use std::sync::Arc;
//!
//! use gpukernel::{Device, allocator::{CachingAllocator, DirectAllocator}};
//!
//! let device = Device::cpu();
//! device.set_allocator(Arc::new(CachingAllocator::new(Arc::new(DirectAllocator))));
//! let buffer = device.upload(&[1, 2, 3])?;
//! device.reset_allocator(); // for later buffers
//! assert_eq!(buffer.to_vec()?, [1, 2, 3]);
//! # Ok::<(), gpukernel::Error>(())
//! ```

mod caching;
mod deferred;
mod direct;
mod pool;

use std::{
    fmt,
    ptr::NonNull,
    sync::{Arc, PoisonError, RwLock},
};

pub use caching::CachingAllocator;
pub use deferred::{DeferredFrees, HeldFrees};
pub use direct::DirectAllocator;
pub(crate) use direct::device_pointer;
pub(crate) use pool::BackendPool;
pub use pool::PoolAllocator;

use crate::{
    Device, Result, Stream,
    backend::{Backend, each},
};

/// Gives the buffers of a device their memory (RMM's `device_memory_resource`, Numba's memory manager, `torch.cuda.memory.CUDAPluggableAllocator`).
///
/// Memory is given and taken in the order of a stream, as by `cudaMallocAsync` and `cudaFreeAsync`.
///
/// ```
/// use std::{ptr::NonNull, sync::{Arc, atomic::{AtomicU64, Ordering}}};
///
/// use gpukernel::{Device, Result, Stream, allocator::{DeviceAllocator, DirectAllocator}};
///
/// /// Counts allocations.
/// #[derive(Debug, Default)]
/// struct Counting {
///     allocations: AtomicU64,
/// }
///
/// // SAFETY: the memory is that of another allocator, which gets it back.
/// unsafe impl DeviceAllocator for Counting {
///     fn allocate(&self, stream: &Stream, bytes: usize) -> Result<NonNull<u8>> {
///         self.allocations.fetch_add(1, Ordering::Relaxed);
///         DirectAllocator.allocate(stream, bytes)
///     }
///
///     unsafe fn deallocate(&self, stream: &Stream, start: NonNull<u8>, bytes: usize) {
///         // SAFETY: as the caller promises.
///         unsafe { DirectAllocator.deallocate(stream, start, bytes) };
///     }
/// }
///
/// let (device, counting) = (Device::cpu(), Arc::new(Counting::default()));
/// device.set_allocator(counting.clone());
/// let buffers = [device.zeroed::<f32>(10)?, device.zeroed(20)?];
/// assert_eq!(counting.allocations.load(Ordering::Relaxed), 2);
/// # device.reset_allocator();
/// # drop(buffers);
/// # Ok::<(), gpukernel::Error>(())
/// ```
///
/// # Safety
/// What [`allocate`](Self::allocate) returns is memory of the stream's device, of at least so many bytes, aligned to 256 bytes. It is nobody else's until it is given
/// to [`deallocate`](Self::deallocate) or the process ends, except for work that the stream waits for. Where [`is_accessible_from`](Self::is_accessible_from) has said that a GPU can use
/// memory, it can as long as that is there.
#[doc(
    alias = "device_memory_resource",
    alias = "memory_resource",
    alias = "CUDAPluggableAllocator",
    alias = "set_memory_manager",
    alias = "set_allocator"
)]
pub unsafe trait DeviceAllocator: fmt::Debug + Send + Sync {
    /// Gives at least `bytes`, which is not 0, that work on `stream` may use at once, and other work after that. What it holds is undefined.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory): the runtime then waits for the device, calls [`trim`](Self::trim), and asks once more. Others are returned to whoever wanted the
    /// buffer.
    fn allocate(&self, stream: &Stream, bytes: usize) -> Result<NonNull<u8>>;

    /// Takes memory back. The device uses it no more once it has done what is queued on `stream` now.
    ///
    /// Nobody gets an error: a buffer is dropped. What kernels report (a panic, say) has to be left to others, as [`Stream::is_done`] and [`Event`](crate::Event)s do.
    ///
    /// # Safety
    /// `allocate` gave the memory, for so many bytes and on the same device; nobody queues work that uses it any more, and all that did is before what is queued on
    /// `stream` later.
    unsafe fn deallocate(&self, stream: &Stream, start: NonNull<u8>, bytes: usize);

    /// Whether kernels of another GPU can use memory that it has given and will give, once that GPU has [access](Device::enable_peer_access) to the memory's. Asked when they
    /// are launched with a buffer of this allocator; if not, that is [`Error::NotAccessible`](crate::Error::NotAccessible). Memory of `cudaMalloc` is accessible then;
    /// that of a pool if [the pool lets the GPU in](PoolAllocator::enable_peer_access), and what `cuMemCreate` made by `cuMemSetAccess`.
    fn is_accessible_from(&self, peer: &Device) -> bool {
        let _ = peer;
        false
    }

    /// Gives memory that it keeps for later, except so many bytes, back to where it is from.
    ///
    /// # Errors
    /// Of the device.
    fn trim(&self, keep_bytes: usize) -> Result<()> {
        let _ = keep_bytes;
        Ok(())
    }
}

/// The allocator of a device's new buffers; none is the device's own.
#[derive(Debug, Default)]
pub(crate) struct Current(RwLock<Option<Arc<dyn DeviceAllocator>>>);

impl Current {
    pub(crate) fn get(&self) -> Option<Arc<dyn DeviceAllocator>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, allocator: Option<Arc<dyn DeviceAllocator>>) {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *current, allocator);
        drop(current);
        // Without the lock: it may free memory.
        drop(old);
    }
}

impl Device {
    /// Lets new buffers have their memory from this allocator, in place of the device's own: on a GPU the driver's pool of stream-ordered allocations, on the CPU
    /// the program's allocator. Buffers that are there keep theirs, and give their memory back to it.
    ///
    /// Pinned, managed and mapped memory is not the allocator's.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use gpukernel::{Device, allocator::{DeferredFrees, DirectAllocator}};
    ///
    /// let device = Device::cpu();
    /// let frees = Arc::new(DeferredFrees::new(Arc::new(DirectAllocator)).max_frees(100));
    /// device.set_allocator(frees.clone());
    /// let buffer = device.zeroed::<f32>(1000)?;
    /// # drop(buffer);
    /// # device.reset_allocator();
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    #[doc(
        alias = "set_current_device_resource",
        alias = "set_memory_manager",
        alias = "change_current_allocator"
    )]
    pub fn set_allocator(&self, allocator: Arc<dyn DeviceAllocator>) {
        each!(&self.backend, device => device.allocator().set(Some(allocator)));
    }

    /// Lets new buffers have their memory from the device's own allocator again.
    pub fn reset_allocator(&self) {
        each!(&self.backend, device => device.allocator().set(None));
    }

    /// The allocator of new buffers; `None` if it is the device's own.
    #[doc(alias = "get_current_device_resource")]
    pub fn allocator(&self) -> Option<Arc<dyn DeviceAllocator>> {
        each!(&self.backend, device => device.allocator().get())
    }
}
