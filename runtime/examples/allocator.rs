//! An allocator of one's own: it counts what buffers ask for, refuses more than a budget, and has the memory from the driver through a cache.

use std::{
    ptr::NonNull,
    sync::{Arc, Mutex, PoisonError},
};

use gpukernel::{
    Device, Error, Result, Stream,
    allocator::{CachingAllocator, DeviceAllocator, DirectAllocator},
};

/// Gives at most so many bytes at a time.
#[derive(Debug)]
struct Budget {
    bytes: usize,
    inner: CachingAllocator,
    taken: Mutex<Taken>,
}

/// What buffers have.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    buffers: usize,
    bytes: usize,
    most_bytes: usize,
}

impl Budget {
    fn new(bytes: usize) -> Self {
        let inner = CachingAllocator::new(Arc::new(DirectAllocator));
        Self { bytes, inner, taken: Mutex::default() }
    }

    fn taken(&self) -> Taken {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: the memory is that of another allocator, which gets it back.
unsafe impl DeviceAllocator for Budget {
    fn allocate(&self, stream: &Stream, bytes: usize) -> Result<NonNull<u8>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes > self.bytes - taken.bytes {
            return Err(Error::OutOfMemory {
                device: format!("the budget of {} bytes", self.bytes),
                asked_bytes: bytes as u64,
                free_bytes: Some((self.bytes - taken.bytes) as u64),
            });
        }
        let start = self.inner.allocate(stream, bytes)?;
        taken.buffers += 1;
        taken.bytes += bytes;
        taken.most_bytes = taken.most_bytes.max(taken.bytes);
        Ok(start)
    }

    unsafe fn deallocate(&self, stream: &Stream, start: NonNull<u8>, bytes: usize) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.buffers -= 1;
        taken.bytes -= bytes;
        // SAFETY: as the caller promises.
        unsafe { self.inner.deallocate(stream, start, bytes) };
    }

    fn is_accessible_from(&self, peer: &Device) -> bool {
        self.inner.is_accessible_from(peer)
    }

    fn trim(&self, keep_bytes: usize) -> Result<()> {
        self.inner.trim(keep_bytes)
    }
}

fn main() -> Result<()> {
    let device = Device::best()?;
    let budget = Arc::new(Budget::new(10 << 20));
    device.set_allocator(budget.clone());

    let kept = device.filled(1 << 20, 1.5_f32)?;
    for _ in 0..100 {
        // The same megabyte each time.
        drop(device.zeroed::<f32>(1 << 18)?);
    }
    println!("on {device}: {:?}, {} bytes kept for later", budget.taken(), budget.inner.kept_bytes());
    let refused = device.zeroed::<f32>(2 << 20);
    println!("8 MiB more: {}", refused.expect_err("the budget is 10 MiB, and 4 are taken"));
    assert_eq!(kept.to_vec()?[7], 1.5);
    Ok(())
}
