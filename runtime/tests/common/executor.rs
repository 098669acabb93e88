//! An executor that runs a task where it is woken.

use std::{
    future::{Future, IntoFuture},
    pin::{Pin, pin},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    task::{Context, Wake, Waker},
};

use gpukernel::{Buffer, Device, Result};

/// A task, until it has ended.
struct Task(Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        let mut future = self.0.lock().expect("no panic");
        if let Some(running) = &mut *future
            && running.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
        {
            *future = None;
        }
    }
}

/// Starts a task here, which goes on where it is woken; its result is received.
fn start<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = channel();
    let task = async move { sender.send(future.await).expect("somebody listens") };
    Arc::new(Task(Mutex::new(Some(Box::pin(task))))).wake();
    receiver
}

/// What nobody but a waker has: dropped where it is woken.
struct Last {
    buffer: Option<Buffer<u32>>,
    dropped: Sender<Result<Vec<u32>>>,
}

impl Wake for Last {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Last {
    fn drop(&mut self) {
        let buffer = self.buffer.take().expect("it is dropped once");
        let copied = buffer.to_vec();
        drop(buffer);
        self.dropped.send(copied).expect("somebody listens");
    }
}

/// Tasks do there what they do elsewhere: wait, copy, allocate and free.
pub(crate) fn polls_and_drops_where_it_is_woken(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let buffer = device.filled(100, 1_u32)?;
    let pinned = device.pinned(100)?;
    let (dropped, last) = channel();
    let waker = Waker::from(Arc::new(Last { buffer: Some(device.filled(100, 2)?), dropped }));
    // Not before all of them wait.
    let held = stream.hold()?;
    let on = stream.clone();
    let task = start(async move {
        (&on).await?;
        let copy = on.upload(&buffer.to_vec()?)?;
        drop(buffer);
        on.copy_to_pinned(&copy, pinned)?.await
    });
    let mut future = pin!(stream.record()?.into_future());
    assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    held.release();
    assert_eq!(*task.recv().expect("it ends")?, [1; 100]);
    assert_eq!(last.recv().expect("it is dropped")?, [2; 100]);
    Ok(())
}
