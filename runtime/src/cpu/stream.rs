//! Streams and events of the CPU device: work is done when the call that queues it returns.

use std::time::{Duration, Instant};

use super::CpuDevice;
use crate::{
    Result,
    backend::{BackendEvent, BackendStream, Callback, OfDevice, Release},
};

/// A stream, of which nothing needs to be known.
#[derive(Clone)]
pub(crate) struct CpuStream;

impl OfDevice for CpuStream {
    type Device = CpuDevice;

    fn device(&self) -> &'static CpuDevice {
        CpuDevice::get()
    }
}

impl BackendStream for CpuStream {
    /// Work of all is done when the call returns that queues it.
    fn is_same(&self, _: &Self) -> bool {
        true
    }

    fn synchronize(&self) -> Result<()> {
        self.device().told()
    }

    fn wait_until_done(&self) -> Result<()> {
        Ok(())
    }

    fn wait_for_stream(&self, _: &Self) -> Result<()> {
        Ok(())
    }

    fn is_done(&self) -> Result<bool> {
        Ok(true)
    }

    /// All work is done: it is called at once.
    fn callback(&self, code: Callback) -> Result<()> {
        self.device().call(code);
        Ok(())
    }

    fn record(&self) -> Result<CpuEvent> {
        Ok(CpuEvent(Instant::now()))
    }

    /// Holds nothing back: nothing is queued.
    fn hold(&self) -> Result<Box<dyn Release>> {
        Ok(Box::new(NothingHeld))
    }

    fn wait(&self, _: &CpuEvent) -> Result<()> {
        Ok(())
    }
}

/// A stream that was not held back.
struct NothingHeld;

impl Release for NothingHeld {
    fn release(&self) {}
}

/// A moment: all work queued before it is done.
#[derive(Clone)]
pub(crate) struct CpuEvent(Instant);

impl OfDevice for CpuEvent {
    type Device = CpuDevice;

    fn device(&self) -> &'static CpuDevice {
        CpuDevice::get()
    }
}

impl BackendEvent for CpuEvent {
    fn synchronize(&self) -> Result<()> {
        self.device().told()
    }

    fn wait(&self) -> Result<()> {
        Ok(())
    }

    fn when_done(&self, code: Callback) -> Result<()> {
        self.device().call(code);
        Ok(())
    }

    fn is_done(&self) -> Result<bool> {
        Ok(true)
    }

    fn elapsed_since(&self, start: &Self) -> Result<Duration> {
        Ok(self.0.saturating_duration_since(start.0))
    }
}
