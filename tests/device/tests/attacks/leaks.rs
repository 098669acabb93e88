//! Everything with a lifetime is leaked while it has work in flight: it is never freed, and what it borrowed is used again at once.

use std::{
    future::{Future, IntoFuture},
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Waker},
};

use gpukernel::{Buffer, CurrentContext, DeviceSlice, PinnedOptions, for_each};
use gpukernel_device_test_kernels::outputs::saxpy;
use gpukernel_device_tests::{KERNELS, on_every_device_alone};

use crate::{LEN, uniform};

/// Polls a future, which is pending, and leaks it: it is woken later.
fn leak_pending(mut future: impl Future + Unpin) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(Pin::new(&mut future).poll(&mut context).is_pending());
    mem::forget(future);
}

#[test]
fn whatever_has_work_in_flight_may_be_leaked() {
    on_every_device_alone(|device, module| {
        let stream = device.stream()?;
        let (ones, mut y) = (device.filled(LEN, 1.0_f32)?, device.zeroed::<f32>(LEN)?);
        let (other, code) = (device.stream()?, device.load(&KERNELS)?);
        let pinned = || device.pinned::<f32>(LEN);
        let [down, mut up, awaited] = [pinned()?, pinned()?, pinned()?];
        up.fill(3.0);
        // Once before the stream is held back: at the first launch the driver may wait for the device.
        for module in [module, &code] {
            module.launch(saxpy, for_each(LEN), (0.0, &ones, &mut y))?;
        }
        // A graph with borrowed memory.
        let mut graph = stream.capture((&ones, &mut y), |capture, (ones, y)| {
            capture.launch(module, saxpy, for_each(LEN), (1.0, ones, y)).map(drop)
        })?;
        graph.upload()?;
        device.synchronize()?;
        let held = stream.hold()?;
        graph.launch()?;
        graph.launch()?;
        mem::forget(graph);
        device.default_stream().launch(module, saxpy, for_each(LEN), (10.0, &ones, &mut y))?;
        // Copies, with pinned memory of their own.
        mem::forget(stream.copy_to_pinned(&y, down)?);
        mem::forget(stream.copy_from_pinned(up, &mut y)?);
        // An event, and futures, of which one was never polled.
        mem::forget(stream.record()?);
        mem::forget((&stream).into_future());
        leak_pending((&stream).into_future());
        leak_pending(stream.copy_to_pinned(&y, awaited)?.into_future());
        // A stream with work, a module whose kernel waits.
        other.launch(module, saxpy, for_each(LEN), (1.0, &ones, &mut y))?;
        mem::forget(other);
        stream.launch(&code, saxpy, for_each(LEN), (1.0, &ones, &mut y))?;
        mem::forget(code);
        // What nobody borrows any more is gone before the work has begun.
        drop(ones);
        drop(held);
        assert_eq!(uniform(&y.to_vec()?), 5.0);
        device.synchronize()
    });
}

#[test]
fn memory_may_be_leaked_while_work_uses_it() {
    on_every_device_alone(|device, module| {
        let stream = device.stream()?;
        let (ones, mut sum) = (device.filled(LEN, 1.0_f32)?, device.zeroed::<f32>(LEN)?);
        let mut buffer = device.zeroed::<f32>(LEN)?;
        let (mut managed, mut mapped) = (device.managed(LEN)?, device.mapped(LEN, PinnedOptions::new())?);
        // Memory whose owner is then never dropped.
        let (mut theirs, owner) = (device.zeroed::<f32>(LEN)?, Arc::new(()));
        let start = theirs.as_mut_ptr();
        // SAFETY: the owner has the memory.
        let mut foreign = unsafe { Buffer::from_foreign(&stream, start, LEN, (theirs, Arc::clone(&owner)))? };
        let all: [&mut DeviceSlice<f32>; 4] = [&mut buffer, &mut managed, &mut mapped, &mut foreign];
        module.launch(saxpy, for_each(LEN), (0.0, &ones, &mut sum))?;
        device.synchronize()?;
        let held = stream.hold()?;
        for memory in all {
            stream.launch(module, saxpy, for_each(LEN), (7.0, &ones, memory))?;
            stream.launch(module, saxpy, for_each(LEN), (1.0, memory, &mut sum))?;
        }
        mem::forget((buffer, managed, mapped, foreign));
        // What would get the memory if it were free.
        let others = [(); 4].map(|()| device.filled(LEN, -1.0_f32));
        drop(held);
        assert_eq!(uniform(&sum.to_vec()?), 28.0);
        for other in others {
            assert_eq!(uniform(&other?.to_vec()?), -1.0);
        }
        assert_eq!(Arc::strong_count(&owner), 2);
        device.synchronize()
    });
}

/// Who lends a stream orders what comes after it with the graph's work.
#[test]
fn a_graph_may_be_leaked_on_a_stream_that_is_lent() {
    on_every_device_alone(|device, module| {
        // With the context of this thread, which may be that of another device.
        mem::forget(CurrentContext::keep());
        let (stream, ones) = (device.stream()?, device.filled(LEN, 1.0_f32)?);
        let mut y = device.zeroed::<f32>(LEN)?;
        let Some(raw) = stream.as_raw() else { return Ok(()) };
        let work = |theirs: &gpukernel::Stream| {
            let mut graph = theirs.capture((&ones, &mut y), |capture, (ones, y)| {
                capture.launch(module, saxpy, for_each(LEN), (1.0, ones, y)).map(drop)
            })?;
            graph.upload()?;
            device.synchronize()?;
            let held = theirs.hold()?;
            graph.launch()?;
            graph.launch()?;
            mem::forget(graph);
            Ok(held)
        };
        // SAFETY: the stream is there longer, and nobody uses the leaked clone of the graph.
        let held = unsafe { device.with_foreign_stream(raw, work)? };
        let mut copy = device.zeroed::<f32>(LEN)?;
        device.default_stream().copy(&y, &mut copy)?;
        drop((ones, y));
        drop(held);
        assert_eq!(uniform(&copy.to_vec()?), 2.0);
        device.synchronize()
    });
}
