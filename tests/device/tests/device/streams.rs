//! Streams and events: order within a stream, order between streams through memory, elapsed times.

use std::time::Duration;

use gpukernel::{Device, for_each};
use gpukernel_device_test_kernels::outputs::{add_index, saxpy};
use gpukernel_device_tests::on_every_device;

/// So many that a launch takes a while: on the CPU kernels are unoptimised.
fn elements(device: &Device) -> usize {
    if device.is_gpu() { 1 << 20 } else { 1 << 16 }
}

#[test]
fn launches_of_a_stream_keep_their_order() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let mut values = stream.zeroed::<u64>(1000)?;
        for _ in 0..100 {
            stream.launch(module, add_index, for_each(1000), (&mut values,))?;
        }
        stream.synchronize()?;
        assert!(values.to_vec()?.into_iter().eq((0..1000).map(|i| 100 * (1 + i))));
        Ok(())
    });
}

/// Nobody waits here: that the second stream uses what the first writes is enough.
#[test]
fn memory_used_on_two_streams_is_in_order() {
    on_every_device(|device, module| {
        let (first, second) = (device.stream()?, device.stream()?);
        let len = elements(device);
        let mut x = device.zeroed::<f32>(len)?;
        let ones = device.filled(len, 1.0_f32)?;
        let mut y = device.zeroed::<f32>(len)?;
        for _ in 0..10 {
            first.launch(module, saxpy, for_each(len), (1.0, &ones, &mut x))?;
            second.launch(module, saxpy, for_each(len), (1.0, &x, &mut y))?;
        }
        // 1 + 2 + … + 10, if every launch saw what the one before wrote, and none was overtaken by the next.
        assert!(y.to_vec()?.into_iter().all(|value| value == 55.0));
        Ok(())
    });
}

#[test]
fn a_buffer_may_be_dropped_while_it_is_used() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let len = elements(device);
        let mut y = device.zeroed::<f32>(len)?;
        for value in 1..=20 {
            let x = device.filled(len, value as f32)?;
            stream.launch(module, saxpy, for_each(len), (1.0, &x, &mut y))?;
        }
        assert!(y.to_vec()?.into_iter().all(|value| value == 210.0));
        Ok(())
    });
}

#[test]
fn events_measure_and_order() {
    on_every_device(|device, module| {
        let (stream, other) = (device.stream()?, device.stream()?);
        let mut values = device.zeroed::<u64>(1 << 20)?;
        let start = stream.record()?;
        stream.launch(module, add_index, for_each(values.len()), (&mut values,))?;
        let end = stream.record()?;
        other.wait(&end)?;
        let after = other.record()?;
        after.synchronize()?;
        assert!(end.is_done()? && start.is_done()?);
        assert!(end.elapsed_since(&start)? > Duration::ZERO);
        assert_eq!(end.elapsed_since(&end)?, Duration::ZERO);
        Ok(())
    });
}

#[test]
fn copies_on_a_stream() {
    on_every_device(|device, _| {
        let stream = device.stream()?;
        let mut buffer = stream.upload(&[1, 2, 3, 4])?;
        stream.fill(&mut buffer[..2], 9)?;
        let mut copy = stream.zeroed::<i32>(4)?;
        stream.copy(&buffer, &mut copy)?;
        let mut found = [0; 4];
        stream.copy_to_host(&copy, &mut found)?;
        assert_eq!(found, [9, 9, 3, 4]);
        Ok(())
    });
}
