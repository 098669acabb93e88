//! Memory of other libraries by its address, with the simulated driver.

use std::{
    ptr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use gpukernel::{Buffer, Device, Error, LaunchConfig, RawArg, Stream};

use crate::{alive, is_inner, load, simulated, waits, with_driver};

/// What a library has: memory, and the stream whose work it frees it after.
struct Owner {
    memory: Option<Buffer<u32>>,
    stream: usize,
    other: usize,
    /// How often the stream waited for the other one before this was dropped.
    waits: Arc<AtomicUsize>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.waits.store(waits(self.stream, self.other), Ordering::Relaxed);
        self.memory.take();
    }
}

fn raw(stream: &Stream) -> usize {
    stream.as_raw().map_or(0, |raw| raw.addr())
}

/// CUDA's own default streams, the legacy one by both of its handles and that of this thread, are ordered with ours; their handles are of the context that is
/// current.
#[test]
fn work_on_the_drivers_default_streams_is_ordered() {
    simulated(&[("FAKE_DEVICES", "2")], || {
        let [device, elsewhere] = [Device::gpu(0)?, Device::gpu(1)?];
        let (module, other) = (load(&device)?, device.stream()?);
        let own = raw(&other);
        for handle in 0..=2 {
            let theirs = ptr::without_provenance_mut(handle);
            let (x, mut y) = (other.filled(10, 1_u32)?, device.zeroed::<u32>(10)?);
            // SAFETY: a default stream is always there, and is used on this thread only.
            let (event, z) = unsafe {
                device.with_foreign_stream(theirs, |stream| {
                    assert_eq!(stream.as_raw(), Some(theirs));
                    assert_eq!(waits(handle, own), 0, "{handle}");
                    elsewhere.synchronize()?;
                    stream.copy(&x, &mut y)?;
                    assert_eq!(waits(handle, own), 1, "{handle}");
                    elsewhere.synchronize()?;
                    let args = [RawArg::slice_mut(&mut y)];
                    stream.launch_foreign(&module, "stray", LaunchConfig::new(1, 1), 0, &args)?;
                    elsewhere.synchronize()?;
                    Ok((stream.record()?, stream.filled(10, 2_u32)?))
                })?
            };
            elsewhere.synchronize()?;
            // It was given back, but what was queued there before is waited for: by its event, and once for both buffers.
            assert_eq!(waits(own, handle), 0, "{handle}");
            other.wait(&event)?;
            other.copy(&z, &mut y)?;
            assert_eq!(waits(own, handle), 2, "{handle}");
            assert_eq!(y.to_vec()?, [2; 10]);
        }
        drop((module, other));
        assert_eq!(alive(), 0);
        Ok(())
    });
}

#[test]
fn owners_are_dropped_after_their_stream_waits_for_users() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let streams = [device.stream()?, device.stream()?];
        let mut memory = device.upload(&[1_u32, 2, 3])?;
        let start = memory.as_mut_ptr();
        assert_eq!(Device::gpu_of_address(start.cast_const().wrapping_add(2).cast())?, device);
        let seen = Arc::new(AtomicUsize::new(usize::MAX));
        let (stream, other) = (raw(&streams[0]), raw(&streams[1]));
        let owner = Owner { memory: Some(memory), stream, other, waits: Arc::clone(&seen) };
        // SAFETY: the owner has the memory.
        let mut buffer = unsafe { Buffer::from_foreign(&streams[0], start, 3, owner)? };
        assert_eq!(waits(other, stream), 0);
        streams[1].fill(&mut buffer[..2], 7)?;
        assert_eq!(waits(other, stream), 1, "it comes after what was queued on the stream of the memory");
        assert_eq!(buffer.to_vec()?, [7, 7, 3]);
        let before = waits(stream, other);
        streams[1].fill(&mut buffer, 8)?;
        drop(buffer);
        assert_eq!(seen.load(Ordering::Relaxed), before + 1);
        // A stream that was given back waits for nobody: the host does, in its place.
        let theirs = streams[0].as_raw().unwrap_or(ptr::null_mut());
        let mut memory = device.upload(&[1_u32, 2, 3])?;
        let start = memory.as_mut_ptr();
        let owner = Owner { memory: Some(memory), stream, other, waits: Arc::clone(&seen) };
        // SAFETY: the owner has the memory, and the stream is there.
        let mut buffer = unsafe {
            device.with_foreign_stream(theirs, |theirs| Buffer::from_foreign(theirs, start, 3, owner))?
        };
        streams[1].fill(&mut buffer, 9)?;
        let before = waits(stream, other);
        drop(buffer);
        assert_eq!(seen.load(Ordering::Relaxed), before);
        drop(streams);
        assert_eq!((alive(), device.memory_info().buffers), (0, 0));
        Ok(())
    });
}

#[test]
fn addresses_that_are_none_are_refused() {
    simulated(&[("FAKE_DEVICES", "2")], || {
        let devices = [Device::gpu(0)?, Device::gpu(1)?];
        let (stream, mut elsewhere) = (devices[0].default_stream(), devices[1].upload(&[1_u32, 2, 3])?);
        let (start, len, owner) = (elsewhere.as_mut_ptr(), elsewhere.len(), Arc::new(()));
        let mut host = [1_u32, 2, 3];
        for (start, text) in [
            (ptr::null_mut(), "0x0, is not one of u32"),
            (start.wrapping_byte_add(2), "aligned to 4 bytes"),
            (start, "is memory of gpu:1"),
            (host.as_mut_ptr(), "is none that the driver knows"),
        ] {
            // SAFETY: it is refused.
            let error = unsafe { Buffer::from_foreign(&stream, start, len, Arc::clone(&owner)) }.unwrap_err();
            assert!(matches!(error, Error::Foreign { .. }) && error.to_string().contains(text), "{error}");
        }
        assert_eq!(Arc::strong_count(&owner), 1);
        assert_eq!(Device::gpu_of_address(start.cast_const().cast())?, devices[1]);
        let error = Device::gpu_of_address(host.as_ptr().cast()).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{error}");
        assert_eq!((devices[0].gpu_index(), devices[1].gpu_index()), (Some(0), Some(1)));
        Ok(())
    });
}

#[test]
fn errors_of_the_driver_are_returned_and_free() {
    if is_inner() {
        let run = || -> gpukernel::Result<()> {
            let device = Device::gpu(0)?;
            let mut memory = device.upload(&[1_u32])?;
            let start = memory.as_mut_ptr();
            // SAFETY: the owner has the memory.
            drop(unsafe { Buffer::from_foreign(&device.default_stream(), start, 1, memory)? });
            Ok(())
        };
        let result = run();
        assert_eq!(alive(), 0);
        return println!("the result: {result:?}");
    }
    let output = with_driver(&[("FAKE_FAULT", "cuPointerGetAttribute@1=999")]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("Err("), "{text}");
}
