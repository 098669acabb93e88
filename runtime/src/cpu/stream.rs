//! Streams of the CPU device: queues of work, each with a thread of its own once it has work.

use std::{iter, sync::Arc};

use super::{
    CpuDevice, CpuEvent, at_work,
    hold::CpuHold,
    origin::{Author, Origin},
    queue::{Queue, Waits, Work},
};
use crate::{
    Result,
    backend::{BackendStream, Callback, OfDevice, Release},
};

/// A stream. When nothing refers to it any more, work that is queued on it still runs.
#[derive(Clone)]
pub(crate) struct CpuStream(Arc<Handle>);

/// What programs have of a stream. Memory that it used has its queue, too.
pub(super) struct Handle(Arc<Queue>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl CpuStream {
    pub(super) fn new() -> Self {
        Self(Arc::new_cyclic(|handle| Handle(Arc::new(Queue::new(handle.clone())))))
    }

    /// The stream of a queue, if a program still has it.
    pub(super) fn of(queue: &Queue) -> Option<Self> {
        queue.handle().map(Self)
    }

    pub(super) fn queue(&self) -> &Arc<Queue> {
        &self.0.0
    }

    /// Queues work; returns its number.
    pub(super) fn push(&self, work: Work) -> Result<u64> {
        self.queue().make_room();
        self.queue().push(work)
    }

    /// Makes work queued from now on wait.
    pub(super) fn delay(&self, mut waits: Waits) -> Result<()> {
        waits.retain(|(queue, _)| !Arc::ptr_eq(queue, self.queue()));
        match waits.is_empty() {
            true => Ok(()),
            false => self.push(Work::wait(waits)).map(drop),
        }
    }

    /// Notes that work queued from now on comes after that of another stream.
    fn comes_after(&self, other: &Queue) {
        Origin::of_work(Author::here(), iter::once(other.origin()), iter::once(self.queue().origin()));
    }

    /// Makes work queued from now on wait for work of another stream.
    pub(super) fn comes_after_work(&self, other: &Arc<Queue>, work: u64) -> Result<()> {
        if Arc::ptr_eq(other, self.queue()) || other.is_done(work) {
            return Ok(());
        }
        self.comes_after(other);
        self.delay(iter::once((Arc::clone(other), work)).collect())
    }

    /// Calls `code` when the work that is queued so far is done, at once if it is.
    pub(super) fn after_all(&self, code: impl FnOnce() + Send + 'static) {
        if let Some(work) = self.queue().push_if_busy(Work::new(Waits::new(), Box::new(code))) {
            (work.code)();
        }
    }
}

impl OfDevice for CpuStream {
    type Device = CpuDevice;

    fn device(&self) -> &'static CpuDevice {
        CpuDevice::get()
    }
}

impl BackendStream for CpuStream {
    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn synchronize(&self) -> Result<()> {
        self.wait_until_done()?;
        self.device().told(Some(self.queue().origin()))
    }

    fn wait_until_done(&self) -> Result<()> {
        let (queue, queued) = (self.queue(), self.queue().queued());
        if !queue.is_done(queued) {
            at_work::check_wait()?;
            queue.wait_for(queued);
        }
        Ok(())
    }

    fn check_wait(&self) -> Result<()> {
        at_work::check_wait()
    }

    fn wait_for_stream(&self, other: &Self) -> Result<()> {
        self.comes_after(other.queue());
        self.delay(other.queue().all())
    }

    fn is_done(&self) -> Result<bool> {
        Ok(self.queue().is_idle())
    }

    fn callback(&self, code: Callback) -> Result<()> {
        self.push(Work::new(Waits::new(), code)).map(drop)
    }

    fn record(&self) -> Result<CpuEvent> {
        CpuEvent::record(self)
    }

    fn hold(&self) -> Result<Box<dyn Release>> {
        Ok(Box::new(CpuHold::new(self)?))
    }

    fn wait(&self, event: &CpuEvent) -> Result<()> {
        self.comes_after(event.queue());
        self.delay(event.waits())
    }
}
