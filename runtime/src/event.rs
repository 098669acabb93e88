//! Events (`cudaEvent_t`): points in streams, and the time between them.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    Device, Error, Result, Stream, cpu::CpuDevice, cuda::CudaEvent, device::Backend, stream::StreamBackend,
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
    backend: EventBackend,
}

#[derive(Clone)]
enum EventBackend {
    /// Work on the CPU is done when it is queued, so an event is a moment in time.
    Cpu(Instant),
    Cuda(Arc<CudaEvent>),
}

impl Event {
    pub(crate) fn record(stream: &Stream) -> Result<Self> {
        let backend = match &stream.backend {
            StreamBackend::Cpu => EventBackend::Cpu(Instant::now()),
            StreamBackend::Cuda(stream) => EventBackend::Cuda(Arc::new(CudaEvent::record(stream)?)),
        };
        Ok(Self { backend })
    }

    pub(crate) fn delay(&self, stream: &Stream) -> Result<()> {
        match (&self.backend, &stream.backend) {
            (EventBackend::Cpu(_), _) => Ok(()),
            (EventBackend::Cuda(event), StreamBackend::Cuda(stream)) => stream.wait(event),
            // Work queued on the CPU runs at once, so wait now.
            (EventBackend::Cuda(event), StreamBackend::Cpu) => event.synchronize(),
        }
    }

    /// The device of the event's stream.
    pub fn device(&self) -> Device {
        let backend = match &self.backend {
            EventBackend::Cpu(_) => Backend::Cpu(CpuDevice::get()),
            EventBackend::Cuda(event) => Backend::Cuda(event.device()),
        };
        Device { backend }
    }

    /// Waits until the event is done (`cudaEventSynchronize`).
    ///
    /// # Errors
    /// As [`Device::synchronize`].
    #[doc(alias = "cudaEventSynchronize", alias = "cuEventSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        match &self.backend {
            EventBackend::Cpu(_) => Ok(()),
            EventBackend::Cuda(event) => event.synchronize(),
        }
    }

    /// Whether the event is done, without waiting (`cudaEventQuery`).
    ///
    /// # Errors
    /// [`Error::ContextLost`] if work before it failed.
    #[doc(alias = "cudaEventQuery", alias = "cuEventQuery", alias = "query")]
    pub fn is_done(&self) -> Result<bool> {
        match &self.backend {
            EventBackend::Cpu(_) => Ok(true),
            EventBackend::Cuda(event) => event.is_done(),
        }
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
        match (&start.backend, &self.backend) {
            (EventBackend::Cpu(start), EventBackend::Cpu(end)) => Ok(end.saturating_duration_since(*start)),
            (EventBackend::Cuda(start), EventBackend::Cuda(end))
                if std::ptr::eq(start.device(), end.device()) =>
            {
                end.elapsed_since(start)
            }
            _ => Err(Error::EventsOfTwoDevices {
                first: start.device().to_string(),
                second: self.device().to_string(),
            }),
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("device", &self.device()).finish_non_exhaustive()
    }
}
