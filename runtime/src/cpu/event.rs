//! Events of the CPU device: the time at which a stream came to them.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{
    CpuDevice, CpuStream, at_work,
    queue::{Queue, Waits, Work},
};
use crate::{
    Result,
    backend::{BackendEvent, Callback, OfDevice},
};

/// A point in a stream.
#[derive(Clone)]
pub(crate) struct CpuEvent {
    marker: Arc<Marker>,
    queue: Arc<Queue>,
    /// The number of the work that it is.
    work: u64,
}

/// What the stream comes to.
#[derive(Default)]
struct Marker(Mutex<Reached>);

#[derive(Default)]
struct Reached {
    at: Option<Instant>,
    /// What is called then.
    calls: Vec<Callback>,
}

impl Marker {
    fn reached(&self) -> MutexGuard<'_, Reached> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reach(&self) {
        let calls = {
            let mut reached = self.reached();
            reached.at = Some(Instant::now());
            std::mem::take(&mut reached.calls)
        };
        calls.into_iter().for_each(|call| CpuDevice::get().call(call));
    }
}

impl CpuEvent {
    pub(super) fn record(stream: &CpuStream) -> Result<Self> {
        let (marker, queue) = (Arc::new(Marker::default()), Arc::clone(stream.queue()));
        let reached = Arc::clone(&marker);
        // Without work there is nothing to wait for, and no need of a thread.
        let work = match queue.is_idle() {
            true => {
                marker.reach();
                queue.queued()
            }
            false => stream.push(Work::new(Waits::new(), Box::new(move || reached.reach())))?,
        };
        Ok(Self { marker, queue, work })
    }

    pub(super) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// What a stream that waits for the event waits for.
    pub(super) fn waits(&self) -> Waits {
        let pending = (!self.is_reached()).then(|| (Arc::clone(&self.queue), self.work));
        pending.into_iter().collect()
    }

    fn is_reached(&self) -> bool {
        self.marker.reached().at.is_some()
    }
}

impl OfDevice for CpuEvent {
    type Device = CpuDevice;

    fn device(&self) -> &'static CpuDevice {
        CpuDevice::get()
    }
}

impl BackendEvent for CpuEvent {
    fn synchronize(&self) -> Result<()> {
        self.wait()?;
        self.device().told(Some(self.queue.origin()))
    }

    fn wait(&self) -> Result<()> {
        // Also before its work counts as done: futures are woken from there.
        if !self.is_reached() {
            at_work::check_wait()?;
            self.queue.wait_for(self.work);
        }
        Ok(())
    }

    fn is_done(&self) -> Result<bool> {
        Ok(self.is_reached())
    }

    fn when_done(&self, code: Callback) -> Result<()> {
        let mut reached = self.marker.reached();
        match reached.at {
            None => reached.calls.push(code),
            Some(_) => {
                drop(reached);
                self.device().call(code);
            }
        }
        Ok(())
    }

    fn elapsed_since(&self, start: &Self) -> Result<Duration> {
        start.synchronize()?;
        self.synchronize()?;
        let at = |event: &Self| event.marker.reached().at;
        Ok(at(self)
            .zip(at(start))
            .map_or(Duration::ZERO, |(end, start)| end.saturating_duration_since(start)))
    }
}
