//! Two streams that use one buffer, in every combination of reads, writes, copies and graphs, and the end of the buffer or the graph that has it meanwhile.

use std::{
    cell::RefCell,
    fmt::Debug,
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use gpukernel::{Buffer, Device, DeviceSlice, Hold, Module, Result, Stream, for_each};
use gpukernel_device_test_kernels::outputs::saxpy;
use gpukernel_device_tests::on_every_device_alone;

use crate::{LEN, uniform};

/// What a stream does with the buffer that both use. Each has another of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// A kernel adds 1.
    Write,
    /// 9.
    Fill,
    CopyTo,
    /// A kernel adds it to the own buffer.
    Read,
    CopyFrom,
    /// A graph's kernel adds 1.
    GraphWrites,
    /// A graph copies from it.
    GraphReads,
}

impl Work {
    const ALL: [Self; 7] = [
        Self::Write,
        Self::Fill,
        Self::CopyTo,
        Self::Read,
        Self::CopyFrom,
        Self::GraphWrites,
        Self::GraphReads,
    ];

    fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::CopyFrom | Self::GraphReads)
    }

    /// Both buffers afterwards.
    fn result(self, shared: f32, own: f32) -> (f32, f32) {
        match self {
            Self::Write | Self::GraphWrites => (shared + 1.0, own),
            Self::Fill => (9.0, own),
            Self::CopyTo => (own, own),
            Self::Read => (shared, own + shared),
            Self::CopyFrom | Self::GraphReads => (shared, shared),
        }
    }
}

struct Test<'t> {
    device: &'t Device,
    module: &'t Module,
    ones: Buffer<f32>,
    /// The first is held back; the third uses what memory the others' work leaves.
    streams: [Stream; 3],
    /// Leaked until the end of a case: with ever more of them, the driver once makes room, for which it waits for the device.
    leaked: RefCell<Vec<Box<dyn Debug>>>,
}

impl<'t> Test<'t> {
    fn new(device: &'t Device, module: &'t Module) -> Result<Self> {
        let streams = [device.stream()?, device.stream()?, device.stream()?];
        Ok(Self { device, module, ones: device.filled(LEN, 1.0)?, streams, leaked: RefCell::default() })
    }

    /// Leaks a graph: its drop waits for its work, which may be held back, and what it borrowed is used again at once.
    fn leak<'g>(&self, graph: impl Debug + 'g) {
        let graph: Box<dyn Debug + 'g> = Box::new(graph);
        // SAFETY: it is not used, and dropped when its work is done: its drop waits for that, and does nothing with what it borrowed.
        self.leaked
            .borrow_mut()
            .push(unsafe { mem::transmute::<Box<dyn Debug + 'g>, Box<dyn Debug>>(graph) });
    }

    fn hold(&self, is_held: bool) -> Result<Option<Hold>> {
        self.device.synchronize()?;
        is_held.then(|| self.streams[0].hold()).transpose()
    }

    fn queue(
        &self,
        work: Work,
        stream: &Stream,
        shared: &mut DeviceSlice<f32>,
        own: &mut Buffer<f32>,
    ) -> Result<()> {
        let (module, ones) = (self.module, &self.ones);
        match work {
            Work::Write => stream.launch(module, saxpy, for_each(LEN), (1.0, ones, shared)),
            Work::Fill => stream.fill(shared, 9.0),
            Work::CopyTo => stream.copy(own, shared),
            Work::Read => stream.launch(module, saxpy, for_each(LEN), (1.0, shared, own)),
            Work::CopyFrom => stream.copy(shared, own),
            Work::GraphWrites => {
                let mut graph = stream.capture((ones, shared), |capture, (ones, shared)| {
                    capture.launch(module, saxpy, for_each(LEN), (1.0, ones, shared))
                })?;
                graph.launch()?;
                self.leak(graph);
                Ok(())
            }
            Work::GraphReads => {
                let memory = (&*shared, own);
                let mut graph = stream.capture(memory, |capture, (shared, own)| capture.copy(shared, own))?;
                graph.launch()?;
                self.leak(graph);
                Ok(())
            }
        }
    }

    /// The second waits for the first if one of both writes; the buffer is freed after both.
    fn check(&self, is_held: bool, [first, second]: [Work; 2], is_dropped: bool) -> Result<()> {
        let case = format!("{first:?}, then {second:?}, dropped: {is_dropped}");
        let [a, b, c] = &self.streams;
        let mut shared = self.device.filled(LEN, 2.0)?;
        let (mut of_a, mut of_b) = (self.device.filled(LEN, 10.0)?, self.device.filled(LEN, 20.0)?);
        let held = self.hold(is_held)?;
        self.queue(first, a, &mut shared, &mut of_a)?;
        self.queue(second, b, &mut shared, &mut of_b)?;
        if is_held && (first.writes() || second.writes()) {
            // That two which only read do not wait is not asked for: streams may share a channel of the device.
            assert!(!b.is_done()?, "{case}");
        }
        let shared = (!is_dropped).then_some(shared);
        // What gets the memory next.
        let next = c.filled(LEN, -1.0)?;
        drop(held);
        let (value, expected_a) = first.result(2.0, 10.0);
        let (value, expected_b) = second.result(value, 20.0);
        let found =
            [of_a, of_b, next].each_ref().map(|buffer| buffer.to_vec().map(|values| uniform(&values)));
        let [found_a, found_b, next] = found;
        assert_eq!((found_a?, found_b?, next?), (expected_a, expected_b, -1.0), "{case}");
        if let Some(shared) = shared {
            assert_eq!(uniform(&shared.to_vec()?), value, "{case}");
        }
        self.leaked.borrow_mut().clear();
        Ok(())
    }

    /// The same with a graph that owns the buffer, and ends before the work of both has begun.
    fn check_end(&self, is_held: bool, [first, second]: [Work; 2], gives_back: bool) -> Result<()> {
        let case = format!("{first:?}, then {second:?}, gives back: {gives_back}");
        let [a, b, c] = &self.streams;
        let memory = (&self.ones, self.device.filled(LEN, 2.0)?, self.device.filled(LEN, 10.0)?);
        let mut of_b = self.device.filled(LEN, 20.0)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&is_over);
        let mut graph = a.capture(memory, |capture, (ones, x, copy)| {
            match first {
                Work::GraphReads => capture.copy(x, copy)?,
                _ => capture.launch(self.module, saxpy, for_each(LEN), (1.0, ones, x))?.untyped(),
            };
            capture.callback(move || tell.store(true, Ordering::Release))
        })?;
        graph.upload()?;
        let held = self.hold(is_held)?;
        graph.launch()?;
        self.queue(second, b, graph.memory_mut().1, &mut of_b)?;
        if is_held && (first.writes() || second.writes()) {
            assert!(!b.is_done()?, "{case}");
        }
        // It waits for its work.
        let given = thread::scope(|scope| {
            let ended = scope.spawn(move || match gives_back {
                true => Some(graph.into_memory()),
                false => {
                    drop(graph);
                    None
                }
            });
            drop(held);
            ended.join().expect("no panic")
        });
        assert!(is_over.load(Ordering::Acquire), "{case}");
        let next = c.filled(LEN, -1.0)?;
        let (value, copied) = first.result(2.0, 10.0);
        let (value, expected_b) = second.result(value, 20.0);
        assert_eq!((uniform(&of_b.to_vec()?), uniform(&next.to_vec()?)), (expected_b, -1.0), "{case}");
        if let Some((_, x, copy)) = given {
            assert_eq!((uniform(&x.to_vec()?), uniform(&copy.to_vec()?)), (value, copied), "{case}");
        }
        self.leaked.borrow_mut().clear();
        Ok(())
    }
}

/// The first waits on a stream that is held back; the second, on another stream, waits for it if one of them writes.
#[test]
fn two_streams_use_one_buffer_in_every_combination() {
    on_every_device_alone(|device, module| {
        let test = Test::new(device, module)?;
        // First without: the driver loads code and makes room at the first use, for which it may wait for the device.
        for is_held in [false, true] {
            for (first, second) in Work::ALL.iter().flat_map(|first| Work::ALL.map(|second| (*first, second)))
            {
                for is_dropped in [false, true] {
                    test.check(is_held, [first, second], is_dropped)?;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn graphs_end_while_two_streams_use_their_buffer() {
    on_every_device_alone(|device, module| {
        let test = Test::new(device, module)?;
        for is_held in [false, true] {
            for first in [Work::GraphReads, Work::GraphWrites] {
                for (second, gives_back) in Work::ALL.iter().flat_map(|work| [(*work, false), (*work, true)])
                {
                    test.check_end(is_held, [first, second], gives_back)?;
                }
            }
        }
        Ok(())
    });
}
