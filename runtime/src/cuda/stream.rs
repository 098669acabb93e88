//! Streams of a GPU.

use std::{ffi::c_void, ptr, sync::Arc};

use cudarc::driver::sys::{self, CUstream};

use gpu_std::host::Access;

use super::{CudaDevice, CudaMemory, event::CudaEvent, hold::CudaHold, memory, replay};
use crate::{
    Result,
    backend::{BackendStream, OfDevice, Release},
};

/// A stream, destroyed when nothing refers to it any more; work that is queued on it then still runs.
pub(crate) struct CudaStream {
    device: &'static CudaDevice,
    raw: CUstream,
}

// SAFETY: a stream is a handle that any thread may use.
unsafe impl Send for CudaStream {}
// SAFETY: as above.
unsafe impl Sync for CudaStream {}

impl CudaStream {
    /// Creates a non-blocking stream, which does not synchronize with the legacy default stream: the runtime orders all accesses.
    pub(crate) fn new(device: &'static CudaDevice) -> Result<Self> {
        device.bind()?;
        let mut raw: CUstream = ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the pointer is to a live handle, and a context is current.
        device.check("cuStreamCreate", unsafe { sys::cuStreamCreate(&mut raw, flags) })?;
        Ok(Self { device, raw })
    }

    pub(super) fn device(&self) -> &'static CudaDevice {
        self.device
    }

    pub(crate) fn raw(&self) -> CUstream {
        self.raw
    }

    /// Lets `work` queue something here that uses this memory.
    pub(crate) fn queue<R>(
        self: &Arc<Self>,
        uses: &[(&Arc<CudaMemory>, Access)],
        work: impl FnOnce(*mut c_void) -> R,
    ) -> Result<R> {
        replay::refuse("work of a library")?;
        memory::ordered(self, uses, |stream| Ok(work(stream.raw().cast())))
    }

    /// Waits until all work is done.
    pub(super) fn wait_for_all(&self) -> Result<()> {
        replay::refuse("waiting for the stream")?;
        self.device.bind()?;
        // SAFETY: the stream is alive, and its context is current.
        self.device.check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.raw) })
    }

    /// Makes work queued from now on wait for the event.
    fn wait_event(&self, event: &CudaEvent) -> Result<()> {
        self.device.bind()?;
        // SAFETY: stream and event are alive.
        let result = unsafe { sys::cuStreamWaitEvent(self.raw, event.raw(), 0) };
        self.device.check("cuStreamWaitEvent", result)
    }

    /// Makes work queued from now on wait for all work queued on `other` so far.
    pub(super) fn wait_for(&self, other: &CudaStream) -> Result<()> {
        // The event may be destroyed while a stream waits for it: the driver keeps its resources.
        self.wait_event(&CudaEvent::record_untimed(other)?)
    }
}

impl OfDevice for Arc<CudaStream> {
    type Device = CudaDevice;

    fn device(&self) -> &'static CudaDevice {
        self.device
    }
}

impl BackendStream for Arc<CudaStream> {
    fn synchronize(&self) -> Result<()> {
        self.wait_for_all()?;
        self.device.told()
    }

    fn record(&self) -> Result<Arc<CudaEvent>> {
        replay::refuse("an event")?;
        CudaEvent::record(self).map(Arc::new)
    }

    fn hold(&self) -> Result<Box<dyn Release>> {
        replay::refuse("holding the stream back")?;
        Ok(Box::new(CudaHold::new(self)?))
    }

    fn wait(&self, event: &Arc<CudaEvent>) -> Result<()> {
        replay::refuse("waiting for an event")?;
        self.wait_event(event)
    }
}

impl Drop for CudaStream {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: nobody uses the stream any more. A drop cannot return the error; the handle is invalid either way.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}
