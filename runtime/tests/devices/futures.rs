//! Futures on every device.

use crate::{common::on_every_device, executor::polls_and_drops_where_it_is_woken};

#[test]
fn tasks_may_be_polled_and_dropped_where_they_are_woken() {
    on_every_device(polls_and_drops_where_it_is_woken);
}

/// They wait by the driver, or by the threads of the streams.
#[test]
#[cfg(target_os = "linux")]
fn many_events_are_awaited_without_a_thread_for_each() {
    use std::{
        fs,
        future::{Future, IntoFuture},
        pin::Pin,
        task::{Context, Poll},
        thread,
    };

    use gpukernel::Result;

    use crate::{
        again::{again, is_inner, succeeded},
        unpark::waker_of_this_thread,
    };

    let threads = || fs::read_dir("/proc/self/task").expect("Linux lists threads").count();
    // Without other tests, which have threads, too.
    if !is_inner() {
        return succeeded(&again(&[]));
    }
    on_every_device(|device| {
        // Streams of a GPU share few queues, in which others wait behind a held one.
        let (streams, events) = if device.is_gpu() { (1, 16) } else { (8, 1000) };
        let streams = (0..streams).map(|_| device.stream()).collect::<Result<Vec<_>>>()?;
        let held = streams.iter().map(|stream| stream.hold()).collect::<Result<Vec<_>>>()?;
        let before = threads();
        let waker = waker_of_this_thread();
        let mut context = Context::from_waker(&waker);
        let mut futures = Vec::new();
        for number in 0..events {
            let mut future = streams[number % streams.len()].record()?.into_future();
            assert!(Pin::new(&mut future).poll(&mut context).is_pending());
            futures.push(future);
        }
        // The thread that wakes, and what the driver of a GPU starts when it has its first callback.
        let now = threads();
        assert!(now <= before + 8, "{before} threads have become {now}");
        drop(held);
        while !futures.is_empty() {
            let mut results = Vec::new();
            futures.retain_mut(|future| match Pin::new(future).poll(&mut context) {
                Poll::Pending => true,
                Poll::Ready(result) => {
                    results.push(result);
                    false
                }
            });
            results.into_iter().collect::<Result<()>>()?;
            if !futures.is_empty() {
                thread::park();
            }
        }
        Ok(())
    });
}
