//! Handles of the driver, and work that others queue.

use std::{ffi::c_void, ptr};

use gpukernel::{Error, RawArg};
use gpukernel_device_test_kernels::outputs::add_index;
use gpukernel_device_tests::{on_every_gpu, on_the_cpu};

#[test]
fn the_cpu_has_no_handles() {
    on_the_cpu(|device, module| {
        let stream = device.stream()?;
        assert!(device.raw_context().is_none() && stream.as_raw().is_none() && module.as_raw().is_none());
        // SAFETY: there is nobody who could do anything.
        let errors = unsafe {
            [
                stream.queue(&[], |_| panic!("it is not called")).unwrap_err(),
                device
                    .with_foreign_stream(ptr::null_mut(), |_| -> gpukernel::Result<()> { panic!("nor this") })
                    .unwrap_err(),
            ]
        };
        assert!(errors.iter().all(|error| matches!(error, Error::NeedsGpu { .. })), "{errors:?}");
        let mut numbers = device.upload(&[1_u32, 2, 3])?;
        // SAFETY: uploads to the CPU device are done when they return, and nobody else uses the memory.
        unsafe { *numbers[1..].as_mut_ptr() = 7 };
        assert_eq!(numbers.to_vec()?, [1, 7, 3]);
        Ok(())
    });
}

mod needs_a_gpu {
    use gpukernel::{Device, PinnedOptions, Result, for_each};
    use gpukernel_device_tests::KERNELS;

    use super::*;

    const LEN: usize = 100_000;

    type Memset = unsafe extern "C" fn(u64, u32, usize, *mut c_void) -> i32;

    /// Sets words by the driver's own call, as a library would.
    ///
    /// # Safety
    /// At the address are as many words.
    unsafe fn memset(stream: *mut c_void, to: *mut u32, value: u32, len: usize) -> i32 {
        // SAFETY: the driver is loaded, and its function is of this type.
        unsafe {
            let driver = libloading::Library::new("libcuda.so.1").expect("there is a GPU");
            let memset = driver.get::<Memset>(b"cuMemsetD32Async\0").expect("all drivers have it");
            memset(to.addr() as u64, value, len, stream)
        }
    }

    fn set(stream: &gpukernel::Stream, to: &mut gpukernel::DeviceSlice<u32>, value: u32) -> Result<()> {
        let (start, len) = (to.as_mut_ptr(), to.len());
        // SAFETY: the words are those of the slice, which the argument names.
        let code =
            unsafe { stream.queue(&[RawArg::slice_mut(to)], |handle| memset(handle, start, value, len))? };
        assert_eq!(code, 0);
        Ok(())
    }

    /// Between launches on other streams, again and again.
    #[test]
    #[ignore = "needs a GPU"]
    fn work_of_libraries_is_ordered_with_ours() {
        on_every_gpu(|device| {
            let (streams, mut words) = ([device.stream()?, device.stream()?], device.zeroed::<u32>(LEN)?);
            let mut copy = device.zeroed::<u32>(LEN)?;
            for round in 1..50 {
                set(&streams[0], &mut words, round)?;
                streams[1].copy(&words, &mut copy)?;
                set(&streams[round as usize % 2], &mut words, 1000 + round)?;
                assert_eq!(copy.to_vec()?, [round; LEN]);
                assert_eq!(words.to_vec()?, [1000 + round; LEN]);
            }
            // Memory that is gone while it is used.
            set(&streams[0], &mut device.zeroed::<u32>(LEN)?, 1)?;
            streams[0].synchronize()
        });
    }

    /// A stream that its owner destroys, and memory that was used there last.
    #[test]
    #[ignore = "needs a GPU"]
    fn streams_of_others_are_used_and_given_back() {
        on_every_gpu(|device: &Device| {
            let (module, mut values) = (device.load(&KERNELS)?, device.zeroed::<u64>(LEN)?);
            let mut dropped_there = Vec::new();
            for _ in 0..10 {
                let theirs = device.stream()?;
                let handle = theirs.as_raw().expect("it is a GPU's");
                // SAFETY: the stream is there until this returns, and no clone of it is kept.
                unsafe {
                    device.with_foreign_stream(handle, |stream| {
                        stream.launch(&module, add_index, for_each(LEN), (&mut values,))?;
                        dropped_there.push(stream.filled(LEN, 1_u32)?);
                        Ok(())
                    })?;
                }
                drop(theirs);
                // On the default stream, after what was queued there.
                module.launch(add_index, for_each(LEN), (&mut values,))?;
            }
            drop(dropped_there);
            // The legacy default stream.
            // SAFETY: it is always there.
            unsafe {
                device.with_foreign_stream(ptr::null_mut(), |stream| {
                    stream.launch(&module, add_index, for_each(LEN), (&mut values,))
                })?;
            }
            assert!(values.to_vec()?.into_iter().eq((0..LEN as u64).map(|i| 21 * (1 + i))));
            Ok(())
        });
    }

    /// Options that change no result, which nothing else would miss.
    #[test]
    #[ignore = "needs a GPU"]
    fn the_driver_knows_of_flags_and_priorities() {
        type GetFlags = unsafe extern "C" fn(*mut u32, *const c_void) -> i32;
        type GetPriority = unsafe extern "C" fn(*mut c_void, *mut i32) -> i32;
        // `CU_MEMHOSTALLOC_PORTABLE` and `CU_MEMHOSTALLOC_WRITECOMBINED`.
        const PORTABLE: u32 = 1;
        const WRITE_COMBINED: u32 = 4;
        // The driver puts smaller memory together in pieces of 2 MiB, and tells the flags of the first that was in the piece, which another test may have asked for.
        const LEN: usize = (2 << 20) / size_of::<u32>();
        on_every_gpu(|device| {
            // SAFETY: the driver is loaded.
            let driver = unsafe { libloading::Library::new("libcuda.so.1").expect("there is a GPU") };
            for (options, asked) in [
                (PinnedOptions::new(), 0),
                (PinnedOptions::new().portable(), PORTABLE),
                (PinnedOptions::new().write_combined(), WRITE_COMBINED),
                (PinnedOptions::new().portable().write_combined(), PORTABLE | WRITE_COMBINED),
            ] {
                let (numbers, mut flags) = (device.pinned_with::<u32>(LEN, options)?, 0);
                // SAFETY: all drivers have the call, which is of this type, and the memory is pinned.
                let code = unsafe {
                    let call = driver.get::<GetFlags>(b"cuMemHostGetFlags\0").expect("all drivers have it");
                    call(&mut flags, numbers.as_ptr().cast())
                };
                assert_eq!((code, flags & (PORTABLE | WRITE_COMBINED)), (0, asked), "{options:?}");
            }
            let priorities = device.stream_priorities()?;
            for (asked, expected) in [
                (*priorities.start(), *priorities.start()),
                (0, 0),
                (*priorities.end(), *priorities.end()),
                (i32::MIN, *priorities.start()),
                (i32::MAX, *priorities.end()),
            ] {
                let (stream, mut priority) = (device.stream_with_priority(asked)?, i32::MIN);
                // SAFETY: as above; the stream is there.
                let code = unsafe {
                    let call =
                        driver.get::<GetPriority>(b"cuStreamGetPriority\0").expect("all drivers have it");
                    call(stream.as_raw().expect("it is a GPU's"), &mut priority)
                };
                assert_eq!((code, priority), (0, expected), "{asked} of {priorities:?}");
            }
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn handles_are_the_drivers() {
        on_every_gpu(|device| {
            let module = device.load(&KERNELS)?;
            let handles = [device.raw_context(), device.default_stream().as_raw(), module.as_raw()];
            assert!(
                handles.iter().all(|handle| handle.is_some_and(|handle| !handle.is_null())),
                "{handles:?}"
            );
            let attributes = module.attributes(add_index, 256)?.expect("it is a GPU");
            assert!(attributes.registers > 0 && attributes.max_threads_per_block >= 256, "{attributes:?}");
            assert!(attributes.occupancy() > 0.2 && attributes.occupancy() <= 1.0, "{attributes:?}");
            Ok(())
        });
    }
}
