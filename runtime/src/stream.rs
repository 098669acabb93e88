//! Streams: queues of work of a device.

use std::{fmt, sync::Arc};

use crate::{Device, Error, Event, Result, cpu::CpuDevice, cuda::CudaStream, device::Backend};

/// A queue of work. What is queued on one stream runs in order; streams run independently of each other, except where they
/// use the same memory: that is ordered without being asked for.
///
/// Clones are the same stream. On the CPU work is done when the call that queues it returns.
///
/// ```
/// let device = gpukernel::Device::cpu();
/// let (copies, work) = (device.stream()?, device.stream()?);
/// let input = device.upload_on(&copies, &[1, 2, 3])?;
/// let mut output = device.zeroed_on::<i32>(&work, 3)?;
/// output.copy_from_device_on(&work, &input)?; // waits for the upload, which ran on another stream
/// work.synchronize()?;
/// assert_eq!(output.to_vec()?, [1, 2, 3]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    pub(crate) backend: StreamBackend,
}

#[derive(Clone)]
pub(crate) enum StreamBackend {
    Cpu,
    Cuda(Arc<CudaStream>),
}

impl Stream {
    pub(crate) fn new(device: &Device) -> Result<Self> {
        let backend = match device.backend {
            Backend::Cpu(_) => StreamBackend::Cpu,
            Backend::Cuda(device) => StreamBackend::Cuda(Arc::new(CudaStream::new(device)?)),
        };
        Ok(Self { backend })
    }

    pub(crate) fn default_of(device: &Device) -> Self {
        let backend = match device.backend {
            Backend::Cpu(_) => StreamBackend::Cpu,
            Backend::Cuda(device) => StreamBackend::Cuda(Arc::clone(device.default_stream())),
        };
        Self { backend }
    }

    /// The device whose work it queues.
    pub fn device(&self) -> Device {
        let backend = match &self.backend {
            StreamBackend::Cpu => Backend::Cpu(CpuDevice::get()),
            StreamBackend::Cuda(stream) => Backend::Cuda(stream.device()),
        };
        Device { backend }
    }

    pub(crate) fn check_device(&self, device: &Device, doing: &dyn Fn() -> String) -> Result<()> {
        let found = self.device();
        if found == *device {
            return Ok(());
        }
        Err(Error::WrongDevice {
            what: "the stream".to_owned(),
            doing: doing(),
            found: found.to_string(),
            expected: device.to_string(),
        })
    }

    /// Waits until all work that was queued here is done.
    ///
    /// # Errors
    /// As [`Device::synchronize`]: whoever waits first is told of a panic, on whichever stream it was.
    pub fn synchronize(&self) -> Result<()> {
        match &self.backend {
            StreamBackend::Cpu => Ok(()),
            StreamBackend::Cuda(stream) => stream.synchronize(),
        }
    }

    /// Marks the place after the work that was queued so far.
    ///
    /// # Errors
    /// What the driver says.
    pub fn record(&self) -> Result<Event> {
        Event::record(self)
    }

    /// Makes work that is queued from now on wait for `event`, which may lie on another stream, also of another GPU.
    ///
    /// # Errors
    /// What the driver says.
    pub fn wait(&self, event: &Event) -> Result<()> {
        event.delay(self)
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("device", &self.device()).finish_non_exhaustive()
    }
}
