//! Events: places in streams, and the time between them.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    Device, Error, Result, Stream, cpu::CpuDevice, cuda::CudaEvent, device::Backend, stream::StreamBackend,
};

/// A place in a stream: done when the work that was queued before it is.
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
#[derive(Clone)]
pub struct Event {
    backend: EventBackend,
}

#[derive(Clone)]
enum EventBackend {
    /// Work on the CPU is done when it is queued, so the place is a moment.
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
            // What is queued on the CPU runs at once, so the wait is now.
            (EventBackend::Cuda(event), StreamBackend::Cpu) => event.synchronize(),
        }
    }

    /// The device of its stream.
    pub fn device(&self) -> Device {
        let backend = match &self.backend {
            EventBackend::Cpu(_) => Backend::Cpu(CpuDevice::get()),
            EventBackend::Cuda(event) => Backend::Cuda(event.device()),
        };
        Device { backend }
    }

    /// Waits until it is done.
    ///
    /// # Errors
    /// As [`Device::synchronize`].
    pub fn synchronize(&self) -> Result<()> {
        match &self.backend {
            EventBackend::Cpu(_) => Ok(()),
            EventBackend::Cuda(event) => event.synchronize(),
        }
    }

    /// Whether it is done, without waiting.
    ///
    /// # Errors
    /// [`Error::ContextLost`] if work before it failed.
    pub fn is_done(&self) -> Result<bool> {
        match &self.backend {
            EventBackend::Cpu(_) => Ok(true),
            EventBackend::Cuda(event) => event.is_done(),
        }
    }

    /// The time from `start` to here, as the device measures it (on a GPU to about half a microsecond). Waits until
    /// both are done.
    ///
    /// # Errors
    /// [`Error::EventsOfTwoDevices`], or what [`synchronize`](Self::synchronize) says.
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
