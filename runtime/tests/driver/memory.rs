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
