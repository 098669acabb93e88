//! Events and futures of work that is not done.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use crate::common::on_the_cpu;

struct Unpark(Thread, AtomicU32);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.unpark();
    }
}

#[test]
fn events_are_reached_in_order() {
    on_the_cpu(|device, _| {
        let stream = device.stream()?;
        let start = stream.record()?;
        assert!(start.is_done()?, "there is no work before it");
        let held = stream.hold()?;
        let before = stream.record()?;
        stream.callback(|| thread::sleep(Duration::from_millis(20)))?;
        let after = stream.record()?;
        assert!(!before.is_done()? && !after.is_done()?);
        let other = device.stream()?;
        other.wait(&before)?;
        other.wait(&start)?;
        assert!(!other.is_done()?);
        held.release();
        let elapsed = after.elapsed_since(&before)?;
        assert!(elapsed >= Duration::from_millis(20), "{elapsed:?}");
        assert!(before.is_done()? && after.elapsed_since(&start)? >= elapsed);
        assert_eq!(start.elapsed_since(&after)?, Duration::ZERO);
        other.synchronize()
    });
}

#[test]
fn futures_are_woken() {
    on_the_cpu(|device, _| {
        let stream = device.stream()?;
        let mut x = stream.zeroed::<u32>(100)?;
        let held = stream.hold()?;
        stream.fill(&mut x, 8)?;
        let unpark = Arc::new(Unpark(thread::current(), AtomicU32::new(0)));
        let waker = Waker::from(Arc::clone(&unpark));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(IntoFuture::into_future(&stream));
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert_eq!(unpark.1.load(Ordering::Relaxed), 0);
        held.release();
        let done = loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(done) => break done,
                Poll::Pending => thread::park(),
            }
        };
        done?;
        assert_eq!(unpark.1.load(Ordering::Relaxed), 1);
        assert_eq!(x.to_vec()?, [8; 100]);
        // A copy that owns its memory.
        let held = stream.hold()?;
        let mut future = pin!(stream.copy_to_pinned(&x, device.pinned(100)?)?.into_future());
        assert!(future.as_mut().poll(&mut context).is_pending());
        held.release();
        let copied = loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(copied) => break copied?,
                Poll::Pending => thread::park(),
            }
        };
        assert_eq!(*copied, [8; 100]);
        Ok(())
    });
}

/// Whoever holds a stream back and forgets that, waits forever: nobody does here.
#[test]
fn an_event_of_a_dropped_stream_is_reached() {
    on_the_cpu(|device, _| {
        let stream = device.stream()?;
        let held = stream.hold()?;
        let event = stream.record()?;
        drop(stream);
        assert!(!event.is_done()?);
        drop(held);
        event.synchronize()
    });
}
