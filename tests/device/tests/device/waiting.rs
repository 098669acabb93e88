//! Callbacks, futures, and copies that own memory of the host, on every device.

use std::{future::IntoFuture, sync::mpsc::channel, thread};

use gpukernel::{Device, Error, Module, PinnedBuffer, Result, for_each};
use gpukernel_device_test_kernels::outputs::add_index;
use gpukernel_device_tests::{block_on, on_every_device};

const LEN: usize = 1 << 16;

#[test]
fn callbacks_run_in_the_order_of_their_stream() {
    on_every_device(|device, module| {
        let (stream, (sender, receiver)) = (device.stream()?, channel());
        let mut values = stream.zeroed::<u64>(LEN)?;
        for number in 0..20 {
            stream.launch(module, add_index, for_each(LEN), (&mut values,))?;
            let sender = sender.clone();
            stream.callback(move || sender.send(number).expect("the test listens"))?;
        }
        drop(sender);
        assert!(receiver.iter().eq(0..20));
        stream.synchronize()?;
        assert!(stream.is_done()?);
        assert_eq!(values.to_vec()?[1], 40);
        Ok(())
    });
}

#[test]
fn streams_and_events_are_awaited() {
    on_every_device(|device, module| {
        let (stream, other) = (device.stream()?, device.stream()?);
        let mut values = stream.zeroed::<u64>(LEN)?;
        block_on(async {
            for round in 1..=10 {
                stream.launch(module, add_index, for_each(LEN), (&mut values,))?;
                let event = stream.record()?;
                (&event).await?;
                assert!(event.is_done()?);
                other.launch(module, add_index, for_each(LEN), (&mut values,))?;
                (&other).await?;
                event.await?;
                assert_eq!(values.to_vec()?[0], 2 * round);
            }
            Ok(())
        })
    });
}

/// Copies in and out with launches between them, awaited by the copies, a stream and an event; what comes out at last.
async fn rounds(device: Device, module: Module, start: u64) -> Result<PinnedBuffer<u64>> {
    let (stream, other) = (device.stream()?, device.stream()?);
    let mut values = stream.zeroed::<u64>(1000)?;
    let mut pinned = device.pinned::<u64>(1000)?;
    pinned.fill(start);
    for _ in 0..5 {
        pinned = stream.copy_from_pinned(pinned, &mut values)?.await?;
        other.launch(&module, add_index, for_each(1000), (&mut values,))?;
        (&other).await?;
        stream.launch(&module, add_index, for_each(1000), (&mut values,))?;
        let event = stream.record()?;
        event.await?;
        pinned = stream.copy_to_pinned(&values, pinned)?.await?;
    }
    Ok(pinned)
}

#[test]
fn tasks_of_tokio_await_streams_events_and_copies() {
    use tokio::{runtime::Builder, task::JoinSet};

    on_every_device(|device, module| {
        for mut runtime in [Builder::new_current_thread(), Builder::new_multi_thread()] {
            let runtime = runtime.build().expect("the system has threads");
            runtime.block_on(async {
                let mut tasks = JoinSet::new();
                for start in 0..8 {
                    let rounds = rounds(device.clone(), module.clone(), start);
                    tasks.spawn(async move { (start, rounds.await) });
                }
                while let Some(ended) = tasks.join_next().await {
                    let (start, values) = ended.expect("no panic");
                    assert!(values?.iter().copied().eq((1..=1000).map(|step| start + 10 * step)));
                }
                Ok::<(), Error>(())
            })?;
        }
        Ok(())
    });
}

fn numbers(device: &Device) -> Result<PinnedBuffer<u32>> {
    let mut numbers = device.pinned::<u32>(LEN)?;
    numbers.iter_mut().zip(0..).for_each(|(number, index)| *number = index);
    Ok(numbers)
}

#[test]
fn copies_own_pinned_memory_until_they_are_done() {
    on_every_device(|device, _| {
        let stream = device.stream()?;
        let mut buffer = stream.zeroed::<u32>(LEN)?;
        let up = stream.copy_from_pinned(numbers(device)?, &mut buffer)?;
        let mut again = up.wait()?;
        assert_eq!(*again, *numbers(device)?);
        again.fill(0);
        let down = stream.copy_to_pinned(&buffer, again)?;
        let again = block_on(down.into_future())?;
        assert_eq!(*again, *numbers(device)?);
        stream.synchronize()
    });
}

#[test]
fn errors_of_copies_come_at_once() {
    on_every_device(|device, _| {
        let stream = device.stream()?;
        let mut buffer = stream.zeroed::<u32>(LEN - 1)?;
        let result = stream.copy_from_pinned(numbers(device)?, &mut buffer);
        assert!(matches!(result, Err(Error::LengthMismatch { .. })), "{result:?}");
        let result = stream.copy_to_pinned(&buffer, numbers(device)?);
        assert!(matches!(result, Err(Error::LengthMismatch { .. })), "{result:?}");
        Ok(())
    });
}

#[test]
fn streams_have_priorities_and_threads_their_streams() {
    on_every_device(|device, module| {
        let priorities = device.stream_priorities()?;
        assert!(priorities.contains(&0), "{priorities:?}");
        let mut values = device.zeroed::<u64>(LEN)?;
        for priority in [*priorities.start(), *priorities.end(), i32::MIN, i32::MAX] {
            let stream = device.stream_with_priority(priority)?;
            stream.launch(module, add_index, for_each(LEN), (&mut values,))?;
        }
        thread::scope(|scope| {
            let (device, values) = (&device, &mut values);
            scope.spawn(move || device.thread_stream()?.launch(module, add_index, for_each(LEN), (values,)));
        });
        device.thread_stream()?.launch(module, add_index, for_each(LEN), (&mut values,))?;
        assert_eq!(values.to_vec()?[0], 6);
        Ok(())
    });
}
