//! Events (`cudaEvent_t`): points in streams, and the time between them.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    Device, Error, Result, Stream,
    backend::{Any, Backend, BackendEvent, BackendStream, Callback, Events, OfDevice, each},
    cuda::CudaEvent,
};

/// A point in a stream (`cudaEvent_t`): done when all work queued before it is done. [`Stream::record`] creates it.
///
/// ```
/// let device = gpukernel::Device::cpu();
/// let stream = device.stream()?;
/// let start = stream.record()?;
/// let numbers = stream.upload(&[1, 2, 3])?;
/// let end = stream.record()?;
/// println!("{:?} for {} numbers", end.elapsed_since(&start)?, numbers.len());
/// assert!(end.is_done()?);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[doc(alias = "cudaEvent_t", alias = "CUevent")]
#[derive(Clone)]
pub struct Event {
    backend: Any<Events>,
}

impl Event {
    pub(crate) fn record(stream: &Stream) -> Result<Self> {
        each!(&stream.backend, stream => Ok(Self { backend: wrap(stream, stream.record()?) }))
    }

    pub(crate) fn of_cuda(event: CudaEvent) -> Self {
        Self { backend: Any::Cuda(Arc::new(event)) }
    }

    pub(crate) fn cuda(&self) -> Option<&CudaEvent> {
        match &self.backend {
            Any::Cpu(_) => None,
            Any::Cuda(event) => Some(event),
        }
    }

    pub(crate) fn delay(&self, stream: &Stream) -> Result<()> {
        each!(&stream.backend, stream => match downcast(stream, &self.backend) {
            Some(event) => stream.wait(event),
            // The devices of the stream cannot wait for this event, but the host can.
            None => self.synchronize(),
        })
    }

    /// Waits, and leaves the errors of kernels to others.
    pub(crate) fn wait(&self) -> Result<()> {
        each!(&self.backend, event => event.wait())
    }

    /// Calls a function when the event is done, or never will be, on a thread where it may do anything.
    pub(crate) fn when_done(&self, code: Callback) -> Result<()> {
        each!(&self.backend, event => {
            let device = event.device();
            let thread = device.wake_thread().sender(device)?;
            // The thread is there until the program ends.
            event.when_done(Box::new(move || drop(thread.send(code))))
        })
    }

    /// The device of the event's stream.
    pub fn device(&self) -> Device {
        each!(&self.backend, event => Device::of(event.device()))
    }

    /// Waits until the event is done (`cudaEventSynchronize`).
    ///
    /// # Errors
    /// As [`Device::synchronize`].
    #[doc(alias = "cudaEventSynchronize", alias = "cuEventSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        each!(&self.backend, event => event.synchronize())
    }

    /// Whether the event is done, without waiting (`cudaEventQuery`).
    ///
    /// # Errors
    /// [`Error::ContextLost`] if work before it failed.
    #[doc(alias = "cudaEventQuery", alias = "cuEventQuery", alias = "query")]
    pub fn is_done(&self) -> Result<bool> {
        each!(&self.backend, event => event.is_done())
    }

    /// Returns the time from `start` to this event as measured by the device (`cudaEventElapsedTime`; on a GPU to about half a
    /// microsecond). Waits until both are done.
    ///
    /// # Errors
    /// [`Error::EventsOfTwoDevices`], else as [`synchronize`](Self::synchronize).
    #[doc(
        alias = "cudaEventElapsedTime",
        alias = "cuEventElapsedTime",
        alias = "event_elapsed_time",
        alias = "cuda.event_elapsed_time",
        alias = "elapsed_time"
    )]
    pub fn elapsed_since(&self, start: &Event) -> Result<Duration> {
        each!(&self.backend, end => match end.device().own(&start.backend) {
            Some(start) => end.elapsed_since(start),
            None => Err(Error::EventsOfTwoDevices {
                first: start.device().to_string(),
                second: self.device().to_string(),
            }),
        })
    }
}

/// The event as one of some backend; it is of the stream's.
fn wrap<B: Backend>(_: &impl OfDevice<Device = B>, event: B::Event) -> Any<Events> {
    B::wrap(event)
}

/// The event, if it is of the stream's backend.
fn downcast<'a, B: Backend>(_: &impl OfDevice<Device = B>, event: &'a Any<Events>) -> Option<&'a B::Event> {
    B::downcast(event)
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("device", &self.device()).finish_non_exhaustive()
    }
}
