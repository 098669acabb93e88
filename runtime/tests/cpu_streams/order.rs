//! Two streams that use one buffer: what waits for what.

use std::{mem, thread};

use gpukernel::{Buffer, Device, Module, Result, Stream, for_each};

use crate::{add, add_other, common::on_the_cpu};

const LEN: usize = 1000;

/// What a stream does with the buffer that both use. Each has another of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Work {
    /// By a kernel.
    Write,
    Fill,
    CopyTo,
    Read,
    CopyFrom,
    GraphWrites,
    GraphReads,
}

const WORKS: [Work; 7] =
    [Work::Write, Work::Fill, Work::CopyTo, Work::Read, Work::CopyFrom, Work::GraphWrites, Work::GraphReads];

impl Work {
    fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::CopyFrom | Self::GraphReads)
    }

    /// Queues it: the first stream's writes make threes of ones, the second's multiply or replace what is there.
    fn queue(
        self,
        stream: &Stream,
        module: &Module,
        shared: &mut Buffer<u32>,
        own: &mut Buffer<u32>,
    ) -> Result<()> {
        match self {
            Self::Write => stream.launch(module, add, for_each(LEN), (2, shared)),
            Self::Fill => stream.fill(shared, 3),
            Self::CopyTo => stream.copy(own, shared),
            Self::Read => stream.launch(module, add_other, for_each(LEN), (&*shared, own)),
            Self::CopyFrom => stream.copy(shared, own),
            // It does not end before its work, which may be held back.
            Self::GraphWrites => {
                let mut graph = stream.capture(&mut *shared, |capture, shared| {
                    capture.launch(module, add, for_each(LEN), (2, shared))
                })?;
                graph.launch()?;
                mem::forget(graph);
                Ok(())
            }
            Self::GraphReads => {
                let mut graph = stream
                    .capture((&*shared, &mut *own), |capture, (shared, own)| capture.copy(shared, own))?;
                graph.launch()?;
                mem::forget(graph);
                Ok(())
            }
        }
    }

    /// The shared element and the own one, afterwards.
    fn expected(self, shared: u32, own: u32) -> (u32, u32) {
        match self {
            Self::Write | Self::GraphWrites => (shared + 2, own),
            Self::Fill => (3, own),
            Self::CopyTo => (own, own),
            Self::Read => (shared, own + shared),
            Self::CopyFrom | Self::GraphReads => (shared, shared),
        }
    }
}

/// Lets threads run that have work.
fn give_time() {
    (0..20).for_each(|_| thread::yield_now());
}

#[test]
fn work_is_queued_and_waits_for_its_stream() {
    on_the_cpu(|device, module| {
        let stream = device.stream()?;
        let mut y = stream.filled(LEN, 1)?;
        let held = stream.hold()?;
        stream.launch(module, add, for_each(LEN), (1, &mut y))?;
        let end = stream.record()?;
        give_time();
        assert!(!stream.is_done()? && !end.is_done()?);
        held.release();
        end.synchronize()?;
        assert_eq!(y.to_vec()?, [2; LEN]);
        assert!(stream.is_done()?);
        Ok(())
    });
}

#[test]
fn streams_that_use_one_buffer_are_ordered_if_one_writes() {
    on_the_cpu(|device, module| {
        for (first, second) in WORKS.iter().flat_map(|first| WORKS.map(|second| (*first, second))) {
            let (a, b) = (device.stream()?, device.stream()?);
            let mut shared = device.filled(LEN, 1)?;
            let (mut of_a, mut of_b) = (device.filled(LEN, 10)?, device.filled(LEN, 20)?);
            device.synchronize()?;
            let held = a.hold()?;
            first.queue(&a, module, &mut shared, &mut of_a)?;
            second.queue(&b, module, &mut shared, &mut of_b)?;
            if first.writes() || second.writes() {
                give_time();
                assert!(!b.is_done()?, "{second:?} waits for {first:?}");
            } else {
                b.synchronize()?;
            }
            assert!(!a.is_done()?);
            held.release();
            let (of_shared, own) = first.expected(1, 10);
            let (of_shared, other) = second.expected(of_shared, 20);
            let found = (shared.to_vec()?, of_a.to_vec()?, of_b.to_vec()?);
            let expected = (vec![of_shared; LEN], vec![own; LEN], vec![other; LEN]);
            assert_eq!(found, expected, "{first:?} and {second:?}");
        }
        Ok(())
    });
}

/// A third stream waits for both readers, and for a stream that only waits for an event.
#[test]
fn a_write_waits_for_all_readers() {
    on_the_cpu(|device, module| {
        let streams = [(); 3].map(|()| device.stream());
        let [a, b, c] = streams;
        let (a, b, c) = (a?, b?, c?);
        let mut x = device.filled(LEN, 5)?;
        let mut sums = [device.zeroed::<u32>(LEN)?, device.zeroed(LEN)?];
        let (hold_a, hold_b) = (a.hold()?, b.hold()?);
        for (stream, sum) in [&a, &b].into_iter().zip(&mut sums) {
            stream.launch(module, add_other, for_each(LEN), (&x, sum))?;
        }
        c.fill(&mut x, 9)?;
        hold_a.release();
        a.synchronize()?;
        give_time();
        assert!(!c.is_done()?, "the other still reads");
        let event = c.record()?;
        let d = device.stream()?;
        d.wait(&event)?;
        assert!(!d.is_done()?);
        drop(hold_b);
        d.synchronize()?;
        assert!(event.is_done()?);
        assert_eq!((sums[0].to_vec()?, sums[1].to_vec()?), (vec![5; LEN], vec![5; LEN]));
        assert_eq!(x.to_vec()?, [9; LEN]);
        Ok(())
    });
}

#[test]
fn unordered_work_waits_for_no_other_stream() {
    on_the_cpu(|device, _| {
        let (a, b) = (device.stream()?, device.stream()?);
        let mut x = device.filled(LEN, 1)?;
        device.synchronize()?;
        let held = a.hold()?;
        a.fill(&mut x[..10], 2)?;
        // SAFETY: it is another part.
        unsafe { device.unordered(|| b.fill(&mut x[10..], 3))? };
        b.synchronize()?;
        // What comes later waits for both.
        let c = device.stream()?;
        c.fill(&mut x, 4)?;
        give_time();
        assert!(!c.is_done()? && !a.is_done()?);
        drop(held);
        assert_eq!(x.to_vec()?, [4; LEN]);
        Ok(())
    });
}

/// A stream has room for about a thousand pieces of work: who queues more waits.
#[test]
fn a_full_stream_lets_others_wait() {
    on_the_cpu(|device, module| {
        let stream = device.stream()?;
        let mut y = device.zeroed::<u32>(1)?;
        for _ in 0..5000 {
            stream.launch(module, add, for_each(1), (1, &mut y))?;
        }
        stream.synchronize()?;
        let held = stream.hold()?;
        let queued = std::sync::atomic::AtomicU32::new(0);
        thread::scope(|scope| {
            let queue = scope.spawn(|| -> Result<()> {
                for _ in 0..3000 {
                    stream.launch(module, add, for_each(1), (1, &mut y))?;
                    queued.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
                Ok(())
            });
            while queued.load(std::sync::atomic::Ordering::Relaxed) < 800 {
                thread::yield_now();
            }
            give_time();
            assert!(!queue.is_finished());
            held.release();
            queue.join().expect("it ends")
        })?;
        assert_eq!(y.to_vec()?, [8000]);
        Ok(())
    });
}

#[test]
fn a_device_is_done_when_all_streams_are() {
    on_the_cpu(|device, module| {
        let streams = (0..4).map(|_| device.stream()).collect::<Result<Vec<_>>>()?;
        let mut buffers = (0..4).map(|_| device.zeroed::<u32>(LEN)).collect::<Result<Vec<_>>>()?;
        for (stream, buffer) in streams.iter().zip(&mut buffers) {
            (0..50).try_for_each(|_| stream.launch(module, add, for_each(LEN), (1, &mut *buffer)))?;
        }
        device.synchronize()?;
        assert!(streams.iter().all(|stream| stream.is_done().is_ok_and(|is_done| is_done)));
        let device: &Device = device;
        assert!(device.default_stream().is_done()?);
        Ok(())
    });
}
