//! Memory that host and device share.

use gpukernel::{Device, Error, MemoryAdvice, PinnedOptions, Result, UnifiedBuffer};

use crate::common::on_every_device;

/// Of both kinds.
fn both(device: &Device, len: usize) -> Result<[UnifiedBuffer<u32>; 2]> {
    let options = PinnedOptions::new();
    Ok([device.managed(len)?, device.mapped(len, options)?])
}

#[test]
fn host_and_device_see_what_the_other_wrote() {
    on_every_device(|device| {
        let streams = [device.stream()?, device.stream()?];
        for mut shared in both(device, 1000)? {
            assert_eq!(shared.host()?, [0; 1000]);
            for round in 0..10_u32 {
                let stream = &streams[round as usize % 2];
                shared.host_mut()?.fill(round);
                let mut copy = stream.zeroed::<u32>(1000)?;
                stream.copy(&shared, &mut copy)?;
                stream.fill(&mut shared[500..], 100 + round)?;
                let host = shared.host()?;
                assert!(
                    host[..500].iter().all(|x| *x == round) && host[500..].iter().all(|x| *x == 100 + round)
                );
                assert_eq!(copy.to_vec()?, [round; 1000]);
            }
            // Dropped while its work may be running.
            streams[1].fill(&mut shared, 1)?;
        }
        Ok(())
    });
}

#[test]
fn advice_and_prefetches_change_no_values() {
    on_every_device(|device| {
        let stream = device.stream()?;
        for mut shared in both(device, 100_000)? {
            shared.host_mut()?.iter_mut().zip(0..).for_each(|(x, i)| *x = i);
            let advice = [
                MemoryAdvice::ReadMostly,
                MemoryAdvice::NotReadMostly,
                MemoryAdvice::PreferredLocation(device.clone()),
                MemoryAdvice::NoPreferredLocation,
                MemoryAdvice::AccessedBy(Device::cpu()),
                MemoryAdvice::NotAccessedBy(Device::cpu()),
            ];
            for advice in &advice {
                shared.advise(advice)?;
                shared.prefetch(&stream, device)?;
                shared.prefetch(&stream, &Device::cpu())?;
            }
            assert!(shared.host()?.iter().zip(0..).all(|(x, i)| *x == i));
        }
        Ok(())
    });
}

#[test]
fn shared_memory_of_nothing_and_of_too_much() {
    on_every_device(|device| {
        for mut shared in both(device, 0)? {
            assert!(
                shared.host()?.is_empty() && shared.host_mut()?.is_empty() && shared.to_vec()?.is_empty()
            );
            shared.prefetch(&device.default_stream(), device)?;
            shared.advise(&MemoryAdvice::ReadMostly)?;
        }
        let units = device.managed::<()>(5)?;
        assert_eq!(units.host()?.len(), 5);
        for len in [usize::MAX, 1 << 50] {
            assert!(matches!(device.managed::<u64>(len), Err(Error::OutOfMemory { .. })));
            assert!(matches!(
                device.mapped::<u64>(len, PinnedOptions::new()),
                Err(Error::OutOfMemory { .. })
            ));
        }
        // Less than the GPU has, of which its context and others have some: the driver would give it, and move it whenever it is used.
        let info = device.memory_info();
        if device.is_gpu() {
            let asked = (info.free_bytes + info.total_bytes).div_ceil(2) as usize;
            assert!(matches!(device.managed::<u8>(asked), Err(Error::OutOfMemory { .. })));
        }
        Ok(())
    });
}
