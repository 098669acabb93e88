//! An allocator that frees later, many at a time.

use std::{
    ptr::NonNull,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{DeviceAllocator, direct::device_pointer};
use crate::{Device, Error, Result, Stream};

/// Frees memory later, when there is enough of it (Numba's deferred deallocation): for allocators such as [`DirectAllocator`](super::DirectAllocator) whose frees wait for
/// the device. What is to be freed is freed at once before an allocation fails.
///
/// ```
/// use std::sync::Arc;
///
/// use gpukernel::{Device, allocator::{DeferredFrees, DirectAllocator}};
///
/// let device = Device::cpu();
/// let frees = Arc::new(DeferredFrees::new(Arc::new(DirectAllocator)).max_frees(2).max_bytes(1 << 20));
/// device.set_allocator(frees.clone());
/// {
///     let _held = frees.hold(); // a part of the program that must not wait
///     (0..10).try_for_each(|_| device.zeroed::<u8>(100).map(drop))?;
///     assert_eq!(frees.pending(), 10);
/// }
/// assert_eq!(frees.pending(), 0);
/// # device.reset_allocator();
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[derive(Debug)]
#[doc(
    alias = "CUDA_DEALLOCS_COUNT",
    alias = "CUDA_DEALLOCS_RATIO",
    alias = "defer_cleanup",
    alias = "add_pending_dealloc",
    alias = "NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT"
)]
pub struct DeferredFrees {
    upstream: Arc<dyn DeviceAllocator>,
    max_frees: usize,
    max_bytes: usize,
    pending: Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    frees: Vec<Free>,
    bytes: usize,
    /// How many guards hold them.
    holds: usize,
}

#[derive(Debug)]
struct Free {
    stream: Stream,
    address: usize,
    bytes: usize,
}

/// Holds the frees of an allocator back until it is dropped: [`DeferredFrees::hold`].
#[derive(Debug)]
#[must_use = "dropped, it holds nothing back"]
pub struct HeldFrees<'a> {
    allocator: &'a DeferredFrees,
}

impl DeferredFrees {
    /// Defers at most 10 frees, of any size, as Numba does.
    pub fn new(upstream: Arc<dyn DeviceAllocator>) -> Self {
        Self { upstream, max_frees: 10, max_bytes: usize::MAX, pending: Mutex::default() }
    }

    /// Frees all when there are more than so many.
    pub fn max_frees(mut self, max_frees: usize) -> Self {
        self.max_frees = max_frees;
        self
    }

    /// Frees all when they are more than so many bytes.
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// How many are to be freed.
    pub fn pending(&self) -> usize {
        self.state().frees.len()
    }

    /// Frees nothing, whatever the limits, until the result is dropped, unless an allocation would fail (Numba's `defer_cleanup`).
    #[doc(alias = "defer_cleanup")]
    pub fn hold(&self) -> HeldFrees<'_> {
        self.state().holds += 1;
        HeldFrees { allocator: self }
    }

    /// Frees all, also if they are held back.
    pub fn flush(&self) {
        let frees = {
            let mut state = self.state();
            state.bytes = 0;
            std::mem::take(&mut state.frees)
        };
        for Free { stream, address, bytes } in frees {
            if let Some(start) = device_pointer(address) {
                // SAFETY: it is from there, with this size, and nobody has it; the stream is the one it was freed on.
                unsafe { self.upstream.deallocate(&stream, start, bytes) };
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flush_if_many(&self) {
        let is_many = {
            let state = self.state();
            state.holds == 0 && (state.frees.len() > self.max_frees || state.bytes > self.max_bytes)
        };
        if is_many {
            self.flush();
        }
    }
}

// SAFETY: the memory is that of `upstream`, which gets it back once.
unsafe impl DeviceAllocator for DeferredFrees {
    fn allocate(&self, stream: &Stream, bytes: usize) -> Result<NonNull<u8>> {
        match self.upstream.allocate(stream, bytes) {
            Err(Error::OutOfMemory { .. }) if self.pending() != 0 => {
                self.flush();
                self.upstream.allocate(stream, bytes)
            }
            result => result,
        }
    }

    unsafe fn deallocate(&self, stream: &Stream, start: NonNull<u8>, bytes: usize) {
        {
            let mut state = self.state();
            state.bytes = state.bytes.saturating_add(bytes);
            let address = start.as_ptr().expose_provenance();
            state.frees.push(Free { stream: stream.clone(), address, bytes });
        }
        self.flush_if_many();
    }

    fn is_accessible_from(&self, peer: &Device) -> bool {
        self.upstream.is_accessible_from(peer)
    }

    /// Frees all that is pending.
    fn trim(&self, keep_bytes: usize) -> Result<()> {
        self.flush();
        self.upstream.trim(keep_bytes)
    }
}

impl Drop for DeferredFrees {
    fn drop(&mut self) {
        self.flush();
    }
}

impl Drop for HeldFrees<'_> {
    fn drop(&mut self) {
        self.allocator.state().holds -= 1;
        self.allocator.flush_if_many();
    }
}
