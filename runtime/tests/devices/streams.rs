//! Streams and events on every device.

use std::{mem, time::Duration};

use crate::{
    again::{again, is_inner, succeeded},
    common::on_every_device,
};
use gpukernel::Device;

#[test]
fn copies_between_streams_are_ordered() {
    on_every_device(|device| {
        let streams = (0..4).map(|_| device.stream()).collect::<Result<Vec<_>, _>>()?;
        let len = 1 << 18;
        let mut ring = device.zeroed::<u32>(len)?;
        let mut other = device.zeroed::<u32>(len)?;
        for round in 0..40_u32 {
            let stream = &streams[round as usize % 4];
            let next = &streams[(round as usize + 1) % 4];
            stream.fill(&mut ring, round)?;
            next.copy(&ring, &mut other)?;
            std::mem::swap(&mut ring, &mut other);
        }
        assert!(ring.to_vec()?.iter().all(|&x| x == 39));
        assert!(other.to_vec()?.iter().all(|&x| x == 39));
        Ok(())
    });
}

#[test]
fn a_stream_may_be_dropped_before_its_work_is_done() {
    on_every_device(|device| {
        let mut buffer = device.zeroed::<u32>(1 << 20)?;
        for value in 1..=10 {
            let stream = device.stream()?;
            let source = stream.filled(1 << 20, value)?;
            stream.copy(&source, &mut buffer)?;
        }
        assert!(buffer.to_vec()?.iter().all(|&x| x == 10));
        Ok(())
    });
}

#[test]
fn events_are_done_after_the_work_before_them() {
    on_every_device(|device| {
        let stream = device.stream()?;
        let start = stream.record()?;
        let buffer = stream.filled(1 << 20, 1_u8)?;
        let end = stream.record()?;
        end.synchronize()?;
        assert!(start.is_done()? && end.is_done()?);
        let elapsed = end.elapsed_since(&start)?;
        assert!(elapsed < Duration::from_secs(60), "{elapsed:?}");
        assert_eq!(start.elapsed_since(&start)?, Duration::ZERO);

        let other = device.stream()?;
        other.wait(&end)?;
        other.synchronize()?;
        device.synchronize()?;
        assert_eq!(buffer[..1].to_vec()?, [1]);
        Ok(())
    });
}

#[test]
fn streams_know_their_device() {
    on_every_device(|device| {
        assert_eq!(&device.stream()?.device(), device);
        assert_eq!(&device.default_stream().record()?.device(), device);
        assert_eq!(Device::from_name(&device.id())?, *device);
        Ok(())
    });
}

/// The stream is held back for good. Others go on, and so does the program, which ends as always.
#[test]
fn a_hold_may_be_leaked() {
    // Others wait for the whole device.
    if !is_inner() {
        return succeeded(&again(&[]));
    }
    on_every_device(|device| {
        let (stream, other) = (device.stream()?, device.stream()?);
        let (mut x, mut y) = (device.filled(100, 1_u32)?, device.zeroed::<u32>(100)?);
        let mut graph = other.capture(device.zeroed::<u32>(100)?, |capture, z| capture.fill(z, 4))?;
        device.synchronize()?;
        mem::forget(stream.hold()?);
        stream.fill(&mut x, 2)?;
        let event = stream.record()?;
        other.fill(&mut y, 3)?;
        other.synchronize()?;
        graph.launch()?;
        assert_eq!((y.to_vec()?, graph.memory().to_vec()?), (vec![3; 100], vec![4; 100]));
        assert_eq!(device.stream()?.filled(100, 5_u32)?.to_vec()?, [5; 100]);
        assert!(other.is_done()? && !stream.is_done()? && !event.is_done()?);
        // Its memory is never free again. Nothing is allocated from here on: a GPU's pool may let that wait for memory that is being freed.
        drop((x, stream, event));
        other.fill(&mut y, 6)?;
        assert_eq!(y.to_vec()?, [6; 100]);
        Ok(())
    });
}
