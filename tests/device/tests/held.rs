//! What waits while a stream is held back. In a program of its own, one test after another: who waits for the whole device waits for the held stream, too.

use std::{
    future::{Future, IntoFuture},
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use gpukernel::{Device, Result};
use gpukernel_device_tests::on_every_device;

const LEN: usize = 1 << 16;

fn alone(test: impl Fn(&Device) -> Result<()>) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    on_every_device(|device, _| test(device));
}

/// Wakes the thread that waits, and counts.
struct Unpark(Thread, AtomicUsize);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.unpark();
    }
}

/// The smallest of executors: the thread sleeps until it is woken.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current(), AtomicUsize::new(0))));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(ready) => return ready,
            Poll::Pending => thread::park(),
        }
    }
}

/// An event that is done wakes its task also while others are not.
#[test]
fn awaited_events_do_not_wait_for_each_other() {
    alone(|device| {
        let (held_stream, free) = (device.stream()?, device.stream()?);
        let held = held_stream.hold()?;
        let (mut late, mut early) = (pin!((&held_stream).into_future()), pin!((&free).into_future()));
        let unpark = Arc::new(Unpark(thread::current(), AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&unpark));
        let mut context = Context::from_waker(&waker);
        if device.is_gpu() {
            assert!(late.as_mut().poll(&mut context).is_pending());
        }
        block_on(early.as_mut())?;
        drop(held);
        block_on(late.as_mut())
    });
}

/// A future that nobody awaits any more, and one that was never polled.
#[test]
fn futures_may_be_dropped() {
    alone(|device| {
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

/// With work behind them that needs the memory to be there.
#[test]
fn copies_may_be_dropped_or_leaked() {
    alone(|device| {
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
