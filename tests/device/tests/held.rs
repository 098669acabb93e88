//! What waits while a stream is held back. In a program of its own, one test after another: who waits for the whole device waits for the held stream, too.

use std::{
    future::{Future, IntoFuture},
    pin::pin,
    ptr,
    task::{Context, Waker},
    thread,
};

use gpukernel::{Error, PinnedOptions, for_each};
use gpukernel_device_test_kernels::outputs::{add_index, saxpy};
use gpukernel_device_tests::{block_on, on_every_device_alone};

const LEN: usize = 1 << 16;

/// An event that is done wakes its task also while others are not.
#[test]
fn awaited_events_do_not_wait_for_each_other() {
    on_every_device_alone(|device, _| {
        let (held_stream, free) = (device.stream()?, device.stream()?);
        let held = held_stream.hold()?;
        let (mut late, mut early) = (pin!((&held_stream).into_future()), pin!((&free).into_future()));
        if device.is_gpu() {
            assert!(late.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        block_on(early.as_mut())?;
        drop(held);
        block_on(late.as_mut())
    });
}

/// By its handle, as an event of another library.
#[test]
fn a_stream_waits_for_an_event_of_somebody_else() {
    on_every_device_alone(|device, _| {
        let [held_stream, waiting] = [device.stream()?, device.stream()?];
        let held = held_stream.hold()?;
        let event = held_stream.record()?;
        let Some(raw) = event.as_raw() else {
            // SAFETY: nothing is done with it.
            let refused = unsafe { waiting.wait_foreign(ptr::null_mut()) };
            assert!(matches!(refused, Err(Error::NeedsGpu { .. })) && !device.is_gpu(), "{refused:?}");
            return Ok(());
        };
        // SAFETY: it was recorded, and is there.
        unsafe { waiting.wait_foreign(raw)? };
        let end = waiting.record()?;
        assert!(!end.is_done()?);
        drop((held, event));
        end.synchronize()
    });
}

/// A future that nobody awaits any more, and one that was never polled.
#[test]
fn futures_may_be_dropped() {
    on_every_device_alone(|device, _| {
        let stream = device.stream()?;
        let held = stream.hold()?;
        drop((&stream).into_future());
        {
            let mut future = pin!((&stream).into_future());
            let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        drop(held);
        stream.synchronize()
    });
}

/// And those of the module itself do not.
#[test]
fn launches_of_a_module_on_a_stream_wait_for_it() {
    on_every_device_alone(|device, module| {
        let stream = device.stream()?;
        let [mut there, mut here] = [device.zeroed::<u64>(LEN)?, device.zeroed::<u64>(LEN)?];
        // Code is loaded when it is first used, which waits for the device.
        module.launch(add_index, for_each(LEN), (&mut there,))?;
        device.synchronize()?;
        let held = stream.hold()?;
        module.on(&stream).launch(add_index, for_each(LEN), (&mut there,))?;
        module.launch(add_index, for_each(LEN), (&mut here,))?;
        module.stream().synchronize()?;
        assert!(!stream.is_done()?);
        drop(held);
        stream.synchronize()?;
        assert!(there.to_vec()?.into_iter().eq((1..=LEN as u64).map(|i| 2 * i)));
        assert!(here.to_vec()?.into_iter().eq(1..=LEN as u64));
        Ok(())
    });
}

/// With work behind them that needs the memory to be there.
#[test]
fn copies_may_be_dropped_or_leaked() {
    on_every_device_alone(|device, _| {
        let stream = device.stream()?;
        let buffer = stream.filled(LEN, 7_u32)?;
        for leak in [false, true] {
            let pinned = device.pinned(LEN)?;
            let held = stream.hold()?;
            let down = stream.copy_to_pinned(&buffer, pinned)?;
            assert!(!device.is_gpu() || !down.is_done()?);
            drop(held);
            if leak { std::mem::forget(down) } else { drop(down) }
        }
        stream.synchronize()
    });
}

/// Of memory that host and device share.
#[test]
fn the_host_waits_for_work_on_what_it_borrows() {
    on_every_device_alone(|device, _| {
        let stream = device.stream()?;
        let from = device.filled(LEN, 7_u32)?;
        for mut shared in [device.managed(LEN)?, device.mapped(LEN, PinnedOptions::new())?] {
            let held = stream.hold()?;
            stream.copy(&from, &mut shared)?;
            let release = thread::spawn(move || drop(held));
            assert_eq!(shared.host()?, [7; LEN]);
            release.join().expect("it ends");
            // A read that has not happened: what the host writes comes after it.
            let mut to = stream.zeroed::<u32>(LEN)?;
            let held = stream.hold()?;
            stream.copy(&shared, &mut to)?;
            let release = thread::spawn(move || drop(held));
            shared.host_mut()?.fill(8);
            release.join().expect("it ends");
            assert_eq!(to.to_vec()?, [7; LEN]);
        }
        Ok(())
    });
}

/// A graph whose memory nobody else used notes nothing of its next launches. Whoever uses the memory waits for them all the same, and they for it.
#[test]
fn launches_that_note_nothing_are_waited_for() {
    on_every_device_alone(|device, _| {
        let (stream, other) = (device.stream()?, device.stream()?);
        let x = device.filled(LEN, 1_u32)?;
        let memory = (&x, device.zeroed::<u32>(LEN)?);
        let mut graph = stream.capture(memory, |capture, (x, y)| capture.copy(x, y))?;
        let mut copy = device.zeroed::<u32>(LEN)?;
        for _ in 0..3 {
            graph.launch()?;
            graph.launch()?;
            // From here on all noted work is known to be done.
            stream.synchronize()?;
            let held = stream.hold()?;
            graph.launch()?;
            other.copy(&graph.memory().1, &mut copy)?;
            assert!(!device.is_gpu() || !other.is_done()?, "it reads what the graph has not written yet");
            drop(held);
            assert_eq!(copy.to_vec()?, [1; LEN]);

            let held = other.hold()?;
            other.fill(graph.memory_mut().1, 2)?;
            graph.launch()?;
            assert!(!device.is_gpu() || !stream.is_done()?, "it writes what was not written yet");
            drop(held);
            assert_eq!(graph.memory().1.to_vec()?, [1; LEN]);
        }
        Ok(())
    });
}

/// Work that is not ordered does not wait for a stream that uses the same memory; work that comes after both does, a graph's too.
#[test]
fn unordered_work_does_not_wait() {
    const HALF: usize = LEN / 2;
    on_every_device_alone(|device, module| {
        let [first, second, third] = [device.stream()?, device.stream()?, device.stream()?];
        let (ones, mut copy) = (device.filled(HALF, 1.0_f32)?, device.zeroed::<f32>(LEN)?);
        let mut graph = second
            .capture(device.zeroed::<f32>(LEN)?, |capture, x| capture.fill(&mut x[HALF..], 3.0).map(drop))?;
        // Once before a stream is held: the driver may wait for the device then.
        module.launch(saxpy, for_each(HALF), (1.0, &ones, &mut graph.memory_mut()[HALF..]))?;
        graph.launch()?;
        device.synchronize()?;
        let held = first.hold()?;
        first.fill(&mut graph.memory_mut()[..HALF], 2.0)?;
        // SAFETY: it is the other half.
        unsafe {
            device.unordered(|| {
                graph.launch()?;
                let x = &mut graph.memory_mut()[HALF..];
                second.launch(module, saxpy, for_each(HALF), (1.0, &ones, x))
            })?;
        }
        second.synchronize()?;
        assert!(!first.is_done()?);
        third.copy(graph.memory(), &mut copy)?;
        assert!(!third.is_done()?, "it reads what the held stream has not written yet");
        graph.launch()?;
        assert!(!second.is_done()?, "a graph writes what has not been copied yet");
        drop(held);
        for (found, expected) in [(copy.to_vec()?, 4.0), (graph.memory().to_vec()?, 3.0)] {
            assert_eq!((&found[..HALF], &found[HALF..]), (&[2.0; HALF][..], &[expected; HALF][..]));
        }
        Ok(())
    });
}
