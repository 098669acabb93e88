//! Events of a GPU.

use std::{
    ptr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use cudarc::driver::sys::{self, CUevent, CUevent_flags as Flags, CUresult};

use super::{CudaDevice, CudaStream, callback, replay};
use crate::{
    Result,
    backend::{BackendEvent, Callback, OfDevice},
};

/// An event that was recorded.
pub(crate) struct CudaEvent {
    device: &'static CudaDevice,
    raw: CUevent,
}

// SAFETY: an event is a handle that any thread may use.
unsafe impl Send for CudaEvent {}
// SAFETY: as above.
unsafe impl Sync for CudaEvent {}

impl CudaEvent {
    /// Records an event with a time.
    pub(super) fn record(stream: &CudaStream) -> Result<Self> {
        Self::record_with(stream, Flags::CU_EVENT_DEFAULT as u32)
    }

    /// Records an event without a time, which is cheaper.
    pub(super) fn record_untimed(stream: &CudaStream) -> Result<Self> {
        Self::record_with(stream, Flags::CU_EVENT_DISABLE_TIMING as u32)
    }

    /// An event that somebody made.
    pub(super) fn of(device: &'static CudaDevice, raw: CUevent) -> Self {
        Self { device, raw }
    }

    pub(super) fn record_with(stream: &CudaStream, flags: u32) -> Result<Self> {
        let device = stream.device();
        device.bind()?;
        let mut raw: CUevent = ptr::null_mut();
        // SAFETY: the pointer is to a live handle, and a context is current.
        device.check("cuEventCreate", unsafe { sys::cuEventCreate(&mut raw, flags) })?;
        let event = Self { device, raw };
        // SAFETY: event and stream are alive and of the same context.
        let result = unsafe { sys::cuEventRecord(raw, stream.raw()) };
        device.check("cuEventRecord", result)?;
        Ok(event)
    }

    /// Waits until it is done.
    pub(super) fn wait(&self) -> Result<()> {
        self.device.bind()?;
        // SAFETY: the event is alive.
        self.device.check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.raw) })
    }

    pub(super) fn device(&self) -> &'static CudaDevice {
        self.device
    }

    pub(crate) fn raw(&self) -> CUevent {
        self.raw
    }
}

impl OfDevice for Arc<CudaEvent> {
    type Device = CudaDevice;

    fn device(&self) -> &'static CudaDevice {
        self.device
    }
}

impl BackendEvent for Arc<CudaEvent> {
    fn synchronize(&self) -> Result<()> {
        self.wait()?;
        self.device.told()
    }

    fn wait(&self) -> Result<()> {
        CudaEvent::wait(self)
    }

    fn is_done(&self) -> Result<bool> {
        self.device.bind()?;
        // SAFETY: the event is alive.
        self.device.is_ready("cuEventQuery", unsafe { sys::cuEventQuery(self.raw) })
    }

    fn when_done(&self, code: Callback) -> Result<()> {
        replay::refuse("waiting for an event")?;
        callback::when_done(self, code)
    }

    fn elapsed_since(&self, start: &Self) -> Result<Duration> {
        start.synchronize()?;
        self.synchronize()?;
        let mut milliseconds = 0.0_f32;
        // SAFETY: the pointer is to a live number; both events are alive, timed and of the current context.
        let result = unsafe { elapsed_time(&mut milliseconds, start.raw, self.raw) };
        self.device.check("cuEventElapsedTime", result)?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }
}

impl Drop for CudaEvent {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: nobody uses the event any more. A drop cannot return the error.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}

/// `cuEventElapsedTime`, which `cudarc` knows for CUDA 13 only as `cuEventElapsedTime_v2`, and that only drivers since CUDA
/// 12.8 have. The old name is still there.
///
/// # Safety
/// Both events are alive and of the current context, and the driver is initialised.
unsafe fn elapsed_time(milliseconds: &mut f32, start: CUevent, end: CUevent) -> CUresult {
    type ElapsedTime = unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> CUresult;
    static FUNCTION: OnceLock<Option<ElapsedTime>> = OnceLock::new();
    let function = FUNCTION.get_or_init(|| {
        // SAFETY: the library is there, since an event of it is; the type is that of `cuda.h`.
        unsafe { sys::culib().get::<ElapsedTime>(b"cuEventElapsedTime\0").ok().map(|symbol| *symbol) }
    });
    match function {
        // SAFETY: as the caller promises.
        Some(function) => unsafe { function(milliseconds, start, end) },
        None => CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
    }
}
