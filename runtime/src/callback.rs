//! Functions of the host that run when work is done: callbacks, and what wakes a future.

use std::{
    any::Any,
    fmt,
    future::{Future, IntoFuture},
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use crate::{
    Error, Event, Result, Stream,
    backend::{BackendStream, each},
};

/// A function that each launch of a graph calls.
pub(crate) type Call = Arc<dyn Fn() + Send + Sync>;

/// What the payload of a panic says, if it is text.
pub(crate) fn text_of(payload: &(dyn Any + Send)) -> Option<&str> {
    match payload.downcast_ref::<&str>() {
        Some(text) => Some(text),
        None => payload.downcast_ref::<String>().map(String::as_str),
    }
}

/// Calls a function; its panic, an error of the device that is described so.
pub(crate) fn call(code: impl FnOnce(), device: impl FnOnce() -> String) -> Option<Error> {
    let panic = catch_unwind(AssertUnwindSafe(code)).err()?;
    let message = text_of(&*panic).unwrap_or("no message").to_owned();
    // Its payload may panic when it is dropped.
    mem::forget(panic);
    Some(Error::CallbackPanicked { device: device(), message })
}

impl Stream {
    /// Calls `code` when the work that is queued so far is done (`cudaLaunchHostFunc`); work that is queued later runs after it. On the CPU device it
    /// runs on the stream's thread, where waiting for the device is [`Error::WaitInCallback`](crate::Error::WaitInCallback). On a GPU it runs on a thread of the driver, where whatever uses a GPU is that
    /// error, and what is dropped of a GPU, such as a buffer, is leaked; it must not wait for work of a GPU in other ways, nor use one by other libraries: that may never end. It also runs if the context
    /// is lost.
    ///
    /// A panic is [`Error::CallbackPanicked`](crate::Error::CallbackPanicked) of the next call that waits for the device.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    ///
    /// let stream = gpukernel::Device::cpu().stream()?;
    /// let (sender, receiver) = channel();
    /// let buffer = stream.filled(100, 1.5_f32)?;
    /// stream.callback(move || sender.send("it is filled").expect("somebody listens"))?;
    /// assert_eq!(receiver.recv(), Ok("it is filled"));
    /// # drop(buffer);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Driver`](crate::Error::Driver), [`Error::ContextLost`](crate::Error::ContextLost), or [`Error::NotCapturable`](crate::Error::NotCapturable) on a stream that is being captured.
    #[doc(
        alias = "cudaLaunchHostFunc",
        alias = "cudaStreamAddCallback",
        alias = "cuLaunchHostFunc",
        alias = "add_callback",
        alias = "launch_host_function"
    )]
    pub fn callback(&self, code: impl FnOnce() + Send + 'static) -> Result<()> {
        self.not_captured("a callback, except by `Capture::callback`,")?;
        each!(&self.backend, stream => stream.callback(Box::new(code)))
    }
}

/// Waits for an [`Event`] without a thread of its own: what `event.await` and `stream.await` wait by, under every executor. Its result is that of
/// [`Event::synchronize`].
///
/// Tasks are woken on one thread per device, where an executor may poll and drop them; others of the device are woken after that.
///
/// ```
/// # fn block_on<F: Future>(future: F) -> F::Output {
/// #     let (mut future, waker) = (std::pin::pin!(future), std::task::Waker::noop());
/// #     loop {
/// #         if let std::task::Poll::Ready(ready) = future.as_mut().poll(&mut std::task::Context::from_waker(waker)) { return ready; }
/// #     }
/// # }
/// async fn fill(stream: &gpukernel::Stream) -> gpukernel::Result<Vec<f32>> {
///     let buffer = stream.filled(1000, 1.5_f32)?;
///     stream.await?; // other tasks run meanwhile
///     buffer.to_vec()
/// }
///
/// let stream = gpukernel::Device::cpu().stream()?;
/// assert_eq!(block_on(fill(&stream))?, [1.5; 1000]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[must_use = "a future does nothing unless it is awaited"]
pub struct EventFuture {
    /// Or why there is none.
    event: Result<Event>,
    /// Once somebody has asked.
    wait: Option<Arc<Mutex<Wait>>>,
}

/// What the callback and the future share.
struct Wait {
    is_over: bool,
    waker: Waker,
}

fn locked(wait: &Mutex<Wait>) -> MutexGuard<'_, Wait> {
    wait.lock().unwrap_or_else(PoisonError::into_inner)
}

impl EventFuture {
    /// Whether the event is done; if not, the task is woken when it is.
    fn is_done(&mut self, context: &mut Context<'_>) -> Result<bool> {
        let event = self.event.as_ref().map_err(Clone::clone)?;
        if let Some(wait) = &self.wait {
            let mut wait = locked(wait);
            wait.waker.clone_from(context.waker());
            return Ok(wait.is_over);
        }
        if event.is_done()? {
            return Ok(true);
        }
        let wait = Arc::new(Mutex::new(Wait { is_over: false, waker: context.waker().clone() }));
        self.wait = Some(Arc::clone(&wait));
        event.when_done(Box::new(move || {
            let waker = {
                let mut wait = locked(&wait);
                wait.is_over = true;
                // Not kept: a task has its future, which has this.
                mem::replace(&mut wait.waker, Waker::noop().clone())
            };
            waker.wake();
        }))?;
        Ok(false)
    }
}

impl Future for EventFuture {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match self.is_done(context) {
            Ok(false) => Poll::Pending,
            Ok(true) => Poll::Ready(self.event.as_ref().map_err(Clone::clone).and_then(Event::synchronize)),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl fmt::Debug for EventFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventFuture").field("event", &self.event).finish_non_exhaustive()
    }
}

impl IntoFuture for Event {
    type Output = Result<()>;
    type IntoFuture = EventFuture;

    fn into_future(self) -> EventFuture {
        EventFuture { event: Ok(self), wait: None }
    }
}

impl IntoFuture for &Event {
    type Output = Result<()>;
    type IntoFuture = EventFuture;

    fn into_future(self) -> EventFuture {
        self.clone().into_future()
    }
}

/// All work that is queued on the stream before it is awaited.
impl IntoFuture for &Stream {
    type Output = Result<()>;
    type IntoFuture = EventFuture;

    fn into_future(self) -> EventFuture {
        EventFuture { event: self.record(), wait: None }
    }
}
