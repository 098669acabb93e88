//! Callbacks, futures, and copies that own memory of the host, on every device.

use std::{future::IntoFuture, sync::mpsc::channel, thread};

use gpukernel::{Error, PinnedBuffer, Result, for_each};
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

fn numbers(device: &gpukernel::Device) -> Result<PinnedBuffer<u32>> {
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
