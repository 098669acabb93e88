//! Streams that are held back: their thread waits.

use std::sync::{
    Arc, Condvar, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use super::{
    CpuStream,
    queue::{Waits, Work},
};
use crate::{Result, backend::Release};

/// A stream that is held back until this is dropped or released.
pub(super) struct CpuHold(Arc<Gate>);

#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

/// How many streams have come to where they are held back.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Whether a stream is held back.
pub(super) fn are_there() -> bool {
    HELD.load(Ordering::Relaxed) != 0
}

impl CpuHold {
    pub(super) fn new(stream: &CpuStream) -> Result<Self> {
        let gate = Arc::new(Gate::default());
        let held = Arc::clone(&gate);
        stream.push(Work::new(Waits::new(), Box::new(move || held.wait())))?;
        Ok(Self(gate))
    }
}

impl Gate {
    fn wait(&self) {
        HELD.fetch_add(1, Ordering::Relaxed);
        let is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(is_open, |is_open| !*is_open));
        HELD.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Release for CpuHold {
    fn release(&self) {
        *self.0.is_open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.opened.notify_all();
    }
}

impl Drop for CpuHold {
    fn drop(&mut self) {
        self.release();
    }
}
