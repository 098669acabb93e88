//! An allocator with a budget: it counts what buffers ask for, refuses more than a budget, and has the memory from the driver through a cache.

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

/// What came of it.
#[derive(Debug)]
struct Outcome {
    taken: Taken,
    kept_bytes: usize,
    refusal: Error,
}

/// Keeps 4 MiB in a buffer, makes and drops a hundred others of 1 MiB, and asks for more than the budget.
fn run(device: &Device, budget_bytes: usize) -> Result<Outcome> {
    let budget = Arc::new(Budget::new(budget_bytes));
    device.set_allocator(budget.clone());
    let outcome = (|| {
        let kept = device.filled(1 << 20, 1.5_f32)?;
        for _ in 0..100 {
            // The same megabyte each time.
            drop(device.zeroed::<f32>(1 << 18)?);
        }
        let (taken, kept_bytes) = (budget.taken(), budget.inner.kept_bytes());
        // What is kept for later is given back before this is refused.
        let refused = device.zeroed::<u8>(budget_bytes - taken.bytes + 1);
        let refusal = refused.expect_err("that is more than there is");
        assert_eq!(kept.to_vec()?[7], 1.5);
        Ok(Outcome { taken, kept_bytes, refusal })
    })();
    // Later buffers have the device's own memory.
    device.reset_allocator();
    outcome
}

pub(crate) fn print(device: &Device, budget_bytes: usize) -> Result<()> {
    let Outcome { taken, kept_bytes, refusal } = run(device, budget_bytes)?;
    println!("{taken:?}, {kept_bytes} bytes kept for later");
    println!("a byte more than is left: {refusal}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_every_device;

    #[test]
    fn buffers_are_counted_and_none_exceeds_the_budget() {
        on_every_device(|device| {
            for mib in [5, 10] {
                let Outcome { taken, kept_bytes, refusal } = run(device, mib << 20)?;
                // The one that is kept has 4 MiB, and each of the hundred had 1.
                assert_eq!((taken.buffers, taken.bytes, taken.most_bytes), (1, 4 << 20, 5 << 20));
                assert_eq!(kept_bytes, 1 << 20);
                let Error::OutOfMemory { asked_bytes, free_bytes, .. } = refusal else { panic!("{refusal}") };
                let free = (mib as u64 - 4) << 20;
                assert_eq!((asked_bytes, free_bytes), (free + 1, Some(free)));
            }
            // The device has its own allocator again.
            assert_eq!(device.filled(100 << 20, 1_u8)?.len(), 100 << 20);
            Ok(())
        });
    }
}
