//! cudarc's types and ours, with the simulated driver.

use std::{mem, panic, sync::Arc, thread};

use cudarc::driver::{CudaContext, CudaStream, DeviceSlice as _};
use gpukernel::{Buffer, Device, DeviceSlice, Error, Result, Stream, allocator::DirectAllocator};

use crate::{alive, frees, simulated, waits, with_driver};

fn raw(stream: &Stream) -> usize {
    stream.as_raw().expect("it is a GPU's").addr()
}

fn theirs(stream: &CudaStream) -> usize {
    stream.cu_stream().addr()
}

#[test]
fn contexts_and_streams_are_the_same_for_both() {
    simulated(&[("FAKE_DEVICES", "2")], || {
        let (device, other) = (Device::gpu(0)?, Device::gpu(1)?);
        let context = device.to_cudarc()?;
        assert!(Arc::ptr_eq(&context, &device.to_cudarc()?) && context.is_managing_stream_synchronization());
        assert_eq!(Some(context.cu_ctx().cast()), device.raw_context());
        assert_eq!(
            (Device::from_cudarc(&context)?, Device::from_cudarc(&*other.to_cudarc()?)?),
            (device.clone(), other)
        );

        // Ours is there as long as cudarc has it, and is the same one when it comes back.
        let stream = device.stream()?;
        let handle = raw(&stream);
        let lent = stream.to_cudarc()?;
        assert!(Arc::ptr_eq(&lent, &stream.to_cudarc()?) && theirs(&lent) == handle);
        drop(stream);
        let another = device.stream()?;
        drop(another.to_cudarc()?);
        lent.synchronize().expect("it is there");
        let back = Stream::from_cudarc(&lent)?;
        assert_eq!(raw(&back), handle);
        drop(lent);
        // With a weak pointer, somebody may still get it.
        let weak = Arc::downgrade(&back.to_cudarc()?);
        drop(back);
        drop(another.to_cudarc()?);
        let lent = weak.upgrade().expect("it is kept for it");
        lent.synchronize().expect("it is there");

        // And theirs as long as we have it.
        let own = context.new_stream().expect("there is room");
        let handle = theirs(&own);
        let stream = Stream::from_cudarc(&own)?;
        drop(own);
        assert_eq!(raw(&stream), handle);
        assert_eq!(theirs(&*stream.to_cudarc()?), handle);
        assert_eq!(stream.upload(&[1, 2])?.to_vec()?, [1, 2]);
        let legacy = Stream::from_cudarc(&context.default_stream())?;
        assert_eq!((raw(&legacy), legacy.upload(&[3])?.to_vec()?), (0, vec![3]));
        stream.synchronize()
    });
}

#[test]
fn threads_get_one_context_and_one_stream() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let stream = device.stream()?;
        let got = thread::scope(|scope| {
            let threads = [0; 8].map(|_| {
                scope.spawn(|| {
                    // Streams come and go meanwhile.
                    (0..50).try_for_each(|_| device.stream()?.to_cudarc().map(drop))?;
                    Ok::<_, Error>((device.to_cudarc()?, stream.to_cudarc()?))
                })
            });
            threads.map(|thread| thread.join().expect("it ends"))
        });
        let got = got.into_iter().collect::<Result<Vec<_>>>()?;
        assert!(
            got.windows(2).all(|two| Arc::ptr_eq(&two[0].0, &two[1].0) && Arc::ptr_eq(&two[0].1, &two[1].1))
        );
        assert_eq!(alive(), 0);
        Ok(())
    });
}

#[test]
fn what_is_of_no_primary_context_or_of_each_thread_is_refused() {
    simulated(&[("FAKE_DEVICES", "2")], || {
        let device = Device::gpu(0)?;
        let context = device.to_cudarc()?;
        let error = Stream::from_cudarc(&context.per_thread_stream()).unwrap_err();
        assert!(
            matches!(error, Error::Foreign { .. }) && error.to_string().contains("per-thread"),
            "{error}"
        );
        // SAFETY: contexts of this driver are numbers.
        let second = unsafe { CudaContext::from_raw_context(0, 0, std::ptr::without_provenance_mut(2)) };
        let second = second.expect("the driver takes any");
        let stream = second.new_stream().expect("there is room");
        let memory = stream.clone_htod(&[1_u32]).expect("there is room");
        for error in [
            Device::from_cudarc(&second).map(drop).unwrap_err(),
            Stream::from_cudarc(&stream).map(drop).unwrap_err(),
            DeviceSlice::with_cudarc(memory.as_view(), |_| Ok(())).unwrap_err(),
            Buffer::from_cudarc(memory).map(drop).unwrap_err(),
        ] {
            assert!(
                matches!(error, Error::Foreign { .. }) && error.to_string().contains("primary"),
                "{error}"
            );
        }
        drop(stream);
        assert_eq!(alive(), 0);
        Ok(())
    });
}

#[test]
fn the_cpu_has_nothing_for_cudarc() {
    let device = Device::cpu();
    let stream = device.default_stream();
    let errors = [
        device.to_cudarc().map(drop).unwrap_err(),
        stream.to_cudarc().map(drop).unwrap_err(),
        stream.lend_to_cudarc(|_| ()).unwrap_err(),
        device.upload(&[1]).and_then(Buffer::into_cudarc).map(drop).unwrap_err(),
    ];
    assert!(errors.iter().all(|error| matches!(error, Error::NeedsGpu { .. })), "{errors:?}");
}

#[test]
fn lent_memory_is_ordered_by_its_stream() {
    simulated(&[("FAKE_DEVICES", "2")], || {
        let device = Device::gpu(0)?;
        let [first, second, third] = [device.stream()?, device.stream()?, device.stream()?];
        let x = first.upload(&[1_u32, 2, 3, 4])?;
        let mut y = second.zeroed::<u32>(4)?;
        let empty = first.zeroed::<u32>(0)?;
        let copied = third.lend_to_cudarc(|scope| {
            assert_eq!(theirs(scope.stream()), raw(&third));
            let (x, mut y, empty) = (scope.read(&x)?, scope.write(&mut y)?, scope.read(&empty)?);
            assert_eq!((x.len(), empty.len()), (4, 0));
            assert_eq!((waits(raw(&third), raw(&first)), waits(raw(&third), raw(&second))), (0, 1));
            scope.stream().memcpy_dtod(&x, &mut y).expect("both are as long");
            Ok::<_, Error>(scope.stream().clone_dtoh(&y).expect("the GPU is there"))
        })??;
        assert_eq!(copied, [1, 2, 3, 4]);
        // Uploads wait for themselves: what is known to be done is not waited for. What cudarc queued is.
        second.copy(&x, &mut y)?;
        assert_eq!(waits(raw(&second), raw(&third)), 1);
        // Work on a stream of cudarc's own comes after, and is waited for.
        let own = device.to_cudarc()?.new_stream().expect("there is room");
        first.lend_to_cudarc(|scope| {
            let mut y = scope.write(&mut y)?;
            assert_eq!(waits(theirs(&own), raw(&first)), 0);
            own.memset_zeros(&mut y).expect("the GPU is there");
            assert_eq!(waits(theirs(&own), raw(&first)), 1);
            Ok::<_, Error>(())
        })??;
        assert_eq!(y.to_vec()?, [0; 4]);
        // Views may be leaked: the scope ends all the same.
        let before = waits(raw(&second), raw(&first));
        first.lend_to_cudarc(|scope| {
            Box::leak(Box::new((scope.read(&x)?, scope.write(&mut y)?)));
            Ok::<_, Error>(())
        })??;
        second.copy(&x, &mut y)?;
        assert!(waits(raw(&second), raw(&first)) > before);
        // Other devices' memory is refused, and a scope whose code panics ends as others do.
        let far = Device::gpu(1)?.upload(&[1])?;
        let error = first.lend_to_cudarc(|scope| scope.read(&far).map(drop))?.unwrap_err();
        assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
        let panicked = panic::catch_unwind(panic::AssertUnwindSafe(|| {
            first.lend_to_cudarc(|scope| {
                let _y = scope.write(&mut y);
                panic!("as it happens");
            })
        }));
        assert!(panicked.is_err());
        let before = waits(raw(&second), raw(&first));
        second.copy(&x, &mut y)?;
        assert!(waits(raw(&second), raw(&first)) > before);
        let captured = first.capture((), |capture, ()| capture.fork()?.lend_to_cudarc(|_| ()));
        assert!(matches!(captured, Err(Error::NotCapturable { .. })));
        drop((x, y, empty, far));
        assert_eq!(alive(), 0);
        Ok(())
    });
}

/// With work of cudarc on both: what is used or freed afterwards comes behind it.
#[test]
#[expect(clippy::forget_non_drop, reason = "that nothing relies on a drop is what is tested")]
fn lent_views_may_be_forgotten() {
    // Events are never known to be done.
    simulated(&[("FAKE_LATE", "1")], || {
        let device = Device::gpu(0)?;
        let [home, stream] = [device.stream()?, device.stream()?];
        let own = device.to_cudarc()?.new_stream().expect("there is room");
        let (x, mut y) = (home.upload(&[1_u32, 2, 3, 4])?, home.zeroed::<u32>(4)?);
        stream.lend_to_cudarc(|scope| {
            let (x, mut y) = (scope.read(&x)?, scope.write(&mut y)?);
            scope.stream().memcpy_dtod(&x, &mut y).expect("both are as long");
            mem::forget(x);
            mem::forget(y);
            Ok::<_, Error>(())
        })??;
        // What is freed on the stream of the copy is freed behind it.
        assert_eq!((frees(raw(&home)), frees(raw(&stream))), (0, 0));
        drop(x);
        assert_eq!((frees(raw(&home)), frees(raw(&stream))), (0, 1));
        let mut other = home.filled(4, 9_u32)?;
        home.copy(&y, &mut other)?;
        assert_eq!(waits(raw(&home), raw(&stream)), 1);
        // On a stream of cudarc's own, which the call waits for.
        stream.lend_to_cudarc(|scope| {
            let mut y = scope.write(&mut y)?;
            own.memset_zeros(&mut y).expect("the GPU is there");
            mem::forget(y);
            Ok::<_, Error>(())
        })??;
        assert_eq!((waits(theirs(&own), raw(&stream)), waits(0, theirs(&own))), (1, 1));
        drop(y);
        assert_eq!((frees(raw(&home)), frees(raw(&stream))), (0, 2));
        assert_eq!(other.to_vec()?, [1, 2, 3, 4]);
        drop(other);
        Ok(())
    });
}

/// Two halves of one buffer, each used by another thread: whoever comes between the beginning and the end of a scope is waited for.
#[test]
fn parts_of_one_buffer_are_lent_and_used_at_the_same_time() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let [first, second] = [device.stream()?, device.stream()?];
        let (mut buffer, sevens) = (device.zeroed::<u32>(8)?, device.filled(8, 7_u32)?);
        let (left, right) = buffer.split_at_mut(4);
        first.lend_to_cudarc(|scope| {
            let mut left = scope.write(left)?;
            let before = waits(raw(&second), raw(&first));
            second.copy(&sevens[..4], right)?;
            assert!(waits(raw(&second), raw(&first)) > before);
            // This is later than what the second stream has waited for.
            scope.stream().memset_zeros(&mut left).expect("the GPU is there");
            assert_eq!(waits(raw(&first), raw(&second)), 0);
            Ok::<_, Error>(())
        })??;
        assert_eq!(waits(raw(&first), raw(&second)), 1);
        let before = waits(raw(&second), raw(&first));
        second.copy(&sevens, &mut buffer)?;
        assert_eq!(waits(raw(&second), raw(&first)), before + 1);
        thread::scope(|threads| {
            for part in buffer.split_at_mut(4).into_iter_of_both() {
                threads.spawn(|| {
                    let stream = device.stream()?;
                    for _ in 0..100 {
                        stream.lend_to_cudarc(|scope| {
                            let mut part = scope.write(&mut *part)?;
                            scope.stream().memset_zeros(&mut part).expect("the GPU is there");
                            Ok::<_, Error>(())
                        })??;
                        stream.fill(part, 3)?;
                    }
                    Ok::<_, Error>(())
                });
            }
        });
        assert_eq!(buffer.to_vec()?, [3; 8]);
        Ok(())
    });
}

trait Both<T> {
    fn into_iter_of_both(self) -> std::array::IntoIter<T, 2>;
}

impl<T> Both<T> for (T, T) {
    fn into_iter_of_both(self) -> std::array::IntoIter<T, 2> {
        [self.0, self.1].into_iter()
    }
}

#[test]
fn memory_changes_its_owner() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let context = device.to_cudarc()?;
        let own = context.new_stream().expect("there is room");
        let stream = device.stream()?;
        let nines = device.filled(2, 9_u32)?;
        let others = alive();

        // Theirs to ours, and back: the same memory, ordered both times.
        let slice = own.clone_htod(&[1_u32, 2, 3]).expect("there is room");
        let mut buffer = Buffer::from_cudarc(slice)?;
        assert_eq!((buffer.len(), buffer.device()), (3, &device));
        assert_eq!(device.memory_info().buffer_bytes, 12 + 8);
        stream.copy(&nines, &mut buffer[1..])?;
        assert_eq!(waits(raw(&stream), theirs(&own)), 1);
        let slice = buffer.into_cudarc()?;
        assert!(waits(theirs(&own), raw(&stream)) >= 1);
        assert_eq!(own.clone_dtoh(&slice).expect("the GPU is there"), [1, 9, 9]);
        assert_eq!(alive() - others, 3, "the memory and two events");
        drop(Buffer::from_cudarc(slice)?);
        assert_eq!(alive(), others);

        // Ours to theirs: on other streams of cudarc after what we queued.
        let mut buffer = device.zeroed::<u32>(3)?;
        stream.copy(&nines, &mut buffer[..2])?;
        let slice = buffer.into_cudarc()?;
        let home = theirs(slice.stream());
        assert_eq!((home, waits(home, raw(&stream))), (raw(&device.default_stream()), 1));
        assert_eq!(waits(theirs(&own), home), 0);
        assert_eq!(own.clone_dtoh(&slice).expect("the GPU is there"), [9, 9, 0]);
        assert_eq!(waits(theirs(&own), home), 1);
        drop(slice);
        assert_eq!((alive(), device.memory_info().buffers), (others, 1));

        // What another allocator gave goes back there: it is lent, and not given away.
        device.set_allocator(Arc::new(DirectAllocator));
        let mut other = device.zeroed::<u32>(3)?;
        device.reset_allocator();
        stream.lend_to_cudarc(|scope| scope.write(&mut other).map(drop))??;
        let error = other.into_cudarc().map(drop).unwrap_err();
        assert!(error.to_string().contains("another allocator"), "{error}");
        let mut exported = device.exportable::<u32>(3)?;
        stream.lend_to_cudarc(|scope| scope.write(&mut exported).map(drop))??;
        let error = exported.into_cudarc().map(drop).unwrap_err();
        assert!(error.to_string().contains("another library"), "{error}");
        assert_eq!((alive(), device.memory_info().buffers), (others, 1));

        // Without bytes there is nothing.
        let error = device.zeroed::<u32>(0)?.into_cudarc().map(drop).unwrap_err();
        assert!(error.to_string().contains("without bytes"), "{error}");
        // SAFETY: no elements are used.
        let none = unsafe { own.upgrade_device_ptr::<u32>(0, 0) };
        let none = Buffer::from_cudarc(none);
        // cudarc frees its null, of which this driver knows nothing, and keeps the error.
        drop(none);
        let _ = context.check_err();
        // SAFETY: the address is refused.
        let odd = std::mem::ManuallyDrop::new(unsafe { own.upgrade_device_ptr::<u32>(4097, 1) });
        let error = DeviceSlice::with_cudarc(odd.as_view(), |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("0x1001"), "{error}");
        Ok(())
    });
}

#[test]
fn memory_of_cudarc_is_borrowed() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let own = device.to_cudarc()?.new_stream().expect("there is room");
        let stream = device.stream()?;
        let mut slice = own.clone_htod(&[1_u32, 2, 3, 4]).expect("there is room");
        let sum = DeviceSlice::with_cudarc(slice.slice(1..), |elements| {
            let mut copy = stream.zeroed(3)?;
            stream.copy(elements, &mut copy)?;
            Ok(copy.to_vec()?.iter().sum::<u32>())
        })?;
        assert_eq!((sum, waits(raw(&stream), theirs(&own)), waits(theirs(&own), raw(&stream))), (9, 1, 1));
        let eights = device.filled(2, 8_u32)?;
        DeviceSlice::with_cudarc_mut(slice.slice_mut(..2), |elements| stream.copy(&eights, elements))?;
        assert_eq!(waits(theirs(&own), raw(&stream)), 2);
        assert_eq!(own.clone_dtoh(&slice).expect("the GPU is there"), [8, 8, 3, 4]);
        // Another stream of cudarc waits for the one that waited for us.
        let other = own.context().new_stream().expect("there is room");
        other.memset_zeros(&mut slice).expect("the GPU is there");
        assert!(waits(theirs(&other), theirs(&own)) >= 1);
        // A graph cannot keep it, an error is returned, and the memory is cudarc's again.
        let graph = DeviceSlice::with_cudarc_mut(slice.as_view_mut(), |elements| {
            let mut graph = stream.capture(elements, |capture, elements| capture.fill(elements, 6))?;
            graph.launch()?;
            graph.launch()
        });
        graph?;
        assert_eq!(own.clone_dtoh(&slice).expect("the GPU is there").len(), 4);
        let error =
            DeviceSlice::with_cudarc(slice.as_view(), |elements| elements.copy_to(&mut [0])).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { .. }), "{error}");
        let leaked = DeviceSlice::with_cudarc_mut(slice.as_view_mut(), |elements| {
            std::mem::forget(stream.capture(elements, |capture, elements| capture.fill(elements, 6))?);
            Ok(())
        });
        leaked?;
        drop(slice);
        Ok(())
    });
}

/// Each function of the driver fails at its first call here, or a later one.
#[test]
fn errors_of_the_driver_are_returned() {
    const FUNCTIONS: [&str; 9] = [
        "cuDevicePrimaryCtxRetain",
        "cuStreamCreate",
        "cuStreamWaitEvent",
        "cuEventCreate",
        "cuEventRecord",
        "cuMemAllocAsync",
        "cuMemsetD8Async",
        "cuMemcpyDtoHAsync_v2",
        "cuCtxSetCurrent",
    ];
    if crate::is_inner() {
        let run = || -> Result<Vec<u32>> {
            let device = Device::gpu(0)?;
            let stream = device.stream()?;
            let mut buffer = device.zeroed::<u32>(4)?;
            stream.lend_to_cudarc(|scope| {
                let mut buffer = scope.write(&mut buffer)?;
                let zeroed = scope.stream().memset_zeros(&mut buffer);
                zeroed.map_err(|_| Error::Foreign {
                    what: "cudarc".to_owned(),
                    reason: "CUDA_ERROR_INVALID_VALUE".to_owned(),
                })
            })??;
            let mut slice = buffer.into_cudarc()?;
            DeviceSlice::with_cudarc_mut(slice.as_view_mut(), |elements| stream.fill(elements, 1))?;
            let buffer = Buffer::from_cudarc(slice)?;
            buffer.to_vec()
        };
        return println!("the result: {:?}", run());
    }
    for function in FUNCTIONS {
        for call in 1..=9 {
            let fault = format!("{function}@{call}=1");
            let output = with_driver(&[("FAKE_FAULT", &fault)]);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            // As the documentation of `into_cudarc` says.
            let is_of_cudarc = function == "cuEventCreate"
                && String::from_utf8_lossy(&output.stderr).contains("driver/safe/core.rs");
            if is_of_cudarc {
                continue;
            }
            let named = text.contains("Err(") && text.contains("CUDA_ERROR_INVALID_VALUE");
            let ended = output.status.success() && (named || text.contains("the result: Ok([1, 1, 1, 1])"));
            assert!(
                ended && (call > 1 || named),
                "{fault}: {text}{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}
