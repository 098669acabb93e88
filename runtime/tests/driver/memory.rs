//! A GPU whose memory is full.

use std::sync::Arc;

use gpukernel::{
    Device, Error,
    allocator::{CachingAllocator, DeferredFrees, DeviceAllocator, DirectAllocator, PoolAllocator},
};

use crate::{alive, simulated};

/// What is pending is freed where the driver itself says that there is no more.
#[test]
fn deferred_frees_are_flushed_when_the_driver_is_out_of_memory() {
    simulated(&[("FAKE_MEMORY", "1000000")], || {
        let device = Device::gpu(0)?;
        let pool = || Ok::<_, Error>(Arc::new(PoolAllocator::new(&device)?));
        let upstreams: [Arc<dyn DeviceAllocator>; 3] =
            [Arc::new(DirectAllocator), pool()?, Arc::new(CachingAllocator::new(pool()?))];
        for upstream in upstreams {
            let frees = Arc::new(DeferredFrees::new(upstream));
            device.set_allocator(frees.clone());
            for is_held in [false, true] {
                let guard = is_held.then(|| frees.hold());
                drop(device.zeroed::<u8>(600_000)?);
                drop(device.zeroed::<u8>(300_000)?);
                assert_eq!(frees.pending(), 2);
                let large = device.zeroed::<u8>(900_000)?;
                assert_eq!(frees.pending(), 0);
                let full = device.zeroed::<u8>(300_000);
                let Err(Error::OutOfMemory { asked_bytes, .. }) = full else { panic!("{full:?}") };
                assert!(asked_bytes >= 300_000);
                drop((large, guard));
                frees.flush();
            }
            device.reset_allocator();
        }
        assert_eq!((alive(), device.memory_info().buffers), (0, 0));
        Ok(())
    });
}

/// The pool of buffers keeps what was freed, which counted as free, but is none for managed memory.
#[test]
fn memory_of_no_pool_gets_what_pools_and_allocators_keep() {
    simulated(&[("FAKE_MEMORY", "10000000"), ("FAKE_KEPT", "6000000")], || {
        let device = Device::gpu(0)?;
        assert_eq!(device.memory_info().free_bytes, 10_000_000);
        let managed = device.managed::<u8>(5_000_000)?;
        let full = device.managed::<u8>(5_000_001);
        assert!(matches!(full, Err(Error::OutOfMemory { free_bytes: Some(5_000_000), .. })), "{full:?}");
        drop(managed);
        for is_exportable in [false, true] {
            let allocate = |len| match is_exportable {
                true => device.exportable::<u8>(len).map(drop),
                false => device.managed::<u8>(len).map(drop),
            };
            device.set_allocator(Arc::new(CachingAllocator::new(Arc::new(DirectAllocator))));
            drop(device.zeroed::<u8>(8_000_000)?);
            allocate(8_000_000)?;
            let frees = Arc::new(DeferredFrees::new(Arc::new(DirectAllocator)));
            device.set_allocator(frees.clone());
            drop(device.zeroed::<u8>(8_000_000)?);
            assert_eq!(frees.pending(), 1);
            allocate(8_000_000)?;
            assert_eq!(frees.pending(), 0);
            let full = allocate(16_000_000);
            assert!(matches!(full, Err(Error::OutOfMemory { .. })), "{full:?}");
            device.reset_allocator();
        }
        assert_eq!((alive(), device.memory_info().buffers), (0, 0));
        Ok(())
    });
}

/// Nor is it any for an allocator that has its memory from elsewhere.
#[test]
fn allocators_get_what_the_pool_of_the_device_keeps() {
    simulated(&[("FAKE_MEMORY", "1000000"), ("FAKE_KEPT", "600000")], || {
        let device = Device::gpu(0)?;
        device.set_allocator(Arc::new(DirectAllocator));
        let buffer = device.zeroed::<u8>(800_000)?;
        device.reset_allocator();
        drop(buffer);
        Ok(())
    });
}
