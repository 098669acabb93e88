//! Memory that is freed while work that uses it is queued.

use std::{
    ptr::NonNull,
    sync::{Arc, Mutex},
};

use gpukernel::{
    Buffer, Device, Result, Stream,
    allocator::{CachingAllocator, DeferredFrees, DeviceAllocator, DirectAllocator, PoolAllocator},
    for_each,
};

use crate::{add_other, common::on_the_cpu};

const LEN: usize = 4000;

/// Buffers that are dropped while a held stream is about to read them; others take their memory, if somebody gives it too early.
fn drops_while_queued(device: &Device, module: &gpukernel::Module) -> Result<()> {
    let (a, b) = (device.stream()?, device.stream()?);
    let mut sum = device.zeroed::<u32>(LEN)?;
    device.synchronize()?;
    let held = a.hold()?;
    let mut others: Vec<Buffer<u32>> = Vec::new();
    for value in 1..=20 {
        let x = device.filled(LEN, value)?;
        a.launch(module, add_other, for_each(LEN), (&x, &mut sum))?;
        drop(x);
        others.push(b.filled(LEN, 1_000_000)?);
    }
    let other = a.filled(LEN, 5)?;
    drop(other);
    held.release();
    assert_eq!(sum.to_vec()?, [210; LEN]);
    for other in others {
        assert_eq!(other.to_vec()?, [1_000_000; LEN]);
    }
    Ok(())
}

#[test]
fn memory_is_freed_after_the_work_that_uses_it() {
    on_the_cpu(drops_while_queued);
}

/// Overwrites what it gets back, when it is allowed to.
#[derive(Debug)]
struct Poisons;

// SAFETY: the memory is that of another allocator, which gets it back.
unsafe impl DeviceAllocator for Poisons {
    fn allocate(&self, stream: &Stream, bytes: usize) -> Result<NonNull<u8>> {
        DirectAllocator.allocate(stream, bytes)
    }

    unsafe fn deallocate(&self, stream: &Stream, start: NonNull<u8>, bytes: usize) {
        let address = start.as_ptr().expose_provenance();
        // SAFETY: after what is queued on the stream the memory is this allocator's.
        let poison = move || unsafe {
            std::ptr::with_exposed_provenance_mut::<u8>(address).write_bytes(0xee, bytes);
        };
        stream.callback(poison).expect("it is a stream of the CPU device");
        // SAFETY: as the caller promises; the callback is before what is queued later.
        unsafe { DirectAllocator.deallocate(stream, start, bytes) };
    }
}

#[test]
fn allocators_get_memory_back_in_the_order_of_a_stream() {
    on_the_cpu(|device, module| {
        let pool = Arc::new(PoolAllocator::new(device)?);
        let allocators: [Arc<dyn DeviceAllocator>; 5] = [
            Arc::new(DirectAllocator),
            Arc::new(Poisons),
            Arc::new(CachingAllocator::new(Arc::new(Poisons))),
            Arc::new(DeferredFrees::new(Arc::new(Poisons)).max_frees(3)),
            pool.clone(),
        ];
        for allocator in allocators {
            device.set_allocator(allocator);
            let result = drops_while_queued(device, module);
            device.reset_allocator();
            result?;
        }
        device.synchronize()?;
        assert_eq!(pool.used_bytes(), 0);
        Ok(())
    });
}

/// A cached block comes back to its own stream at once, and work on another waits for the one that used it.
#[test]
fn cached_memory_waits_for_the_stream_that_had_it() {
    on_the_cpu(|device, _| {
        let caching = Arc::new(CachingAllocator::new(Arc::new(DirectAllocator)));
        device.set_allocator(caching.clone());
        let tested = (|| {
            let (a, b) = (device.stream()?, device.stream()?);
            let mut copies = device.zeroed::<u32>(LEN)?;
            device.synchronize()?;
            let held = a.hold()?;
            let x = a.filled(LEN, 1_u32)?;
            a.copy(&x, &mut copies)?;
            drop(x);
            assert!(caching.kept_bytes() > 0);
            let again = a.filled(LEN, 2_u32)?;
            assert_eq!(caching.kept_bytes(), 0, "it was given again");
            let mut on_b = b.zeroed::<u32>(LEN)?;
            b.copy(&again, &mut on_b)?;
            assert!(!b.is_done()?);
            held.release();
            assert_eq!((copies.to_vec()?, on_b.to_vec()?), (vec![1; LEN], vec![2; LEN]));
            Ok(())
        })();
        device.reset_allocator();
        tested
    });
}

/// Buffers may be dropped by callbacks, whose thread must not wait.
#[test]
fn callbacks_free_what_is_used_elsewhere() {
    on_the_cpu(|device, module| {
        for allocator in [None, Some(Arc::new(Poisons))] {
            if let Some(allocator) = allocator {
                device.set_allocator(allocator);
            }
            let (a, b) = (device.stream()?, device.stream()?);
            let mut sum = device.zeroed::<u32>(LEN)?;
            let x = device.filled(LEN, 3)?;
            device.synchronize()?;
            let held = a.hold()?;
            a.launch(module, add_other, for_each(LEN), (&x, &mut sum))?;
            let keeper = Mutex::new(Some(x));
            b.callback(move || drop(keeper.lock().map(|mut x| x.take())))?;
            b.wait_until_dropped()?;
            held.release();
            assert_eq!(sum.to_vec()?, [3; LEN]);
            device.reset_allocator();
        }
        Ok(())
    });
}

trait WaitUntilDropped {
    fn wait_until_dropped(&self) -> Result<()>;
}

impl WaitUntilDropped for Stream {
    /// An allocator may let the stream of the callback wait for the one that is held: until then.
    fn wait_until_dropped(&self) -> Result<()> {
        let (sender, receiver) = std::sync::mpsc::channel();
        self.callback(move || {
            let _ = sender.send(());
        })?;
        receiver.recv().expect("it is called");
        Ok(())
    }
}
