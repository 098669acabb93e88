//! A thread that ends NCCL's work if it takes too long: kernels of NCCL wait on the GPU for those of other processes, and whoever waits for the GPU would wait
//! for a dead process, too.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use gpukernel::Event;

use super::handle::Handle;
use crate::{Error, Result};

/// Between two looks at work that is not done.
const INTERVAL: Duration = Duration::from_millis(10);

/// The thread, which ends with this.
pub(super) struct Watchdog {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    watched: Mutex<Watched>,
    changed: Condvar,
}

#[derive(Default)]
struct Watched {
    works: VecDeque<Work>,
    is_ended: bool,
}

/// What has to be done by some time.
struct Work {
    event: Event,
    deadline: Option<Instant>,
    what: String,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watchdog {
    pub(super) fn start(handle: &Arc<Handle>) -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let (of_thread, handle) = (Arc::clone(&shared), Arc::clone(handle));
        let comm_handle = Arc::clone(&handle);
        let thread = thread::Builder::new()
            .name("gpukernel-nccl".to_owned())
            .spawn(move || watch(&of_thread, &handle))
            .map_err(|error| {
                let message = format!("no thread to watch over its work: {error}");
                comm_handle.fail(Error::Nccl { call: "std::thread::spawn", message })
            })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Ends NCCL's work if the event is not done by then.
    pub(super) fn watch(&self, event: Event, deadline: Option<Instant>, what: String) {
        self.shared.lock().works.push_back(Work { event, deadline, what });
        self.shared.changed.notify_one();
    }

    /// Ends the thread, and waits for that if all is well. Else the thread may be in a call that ends NCCL's work, for which nobody waits.
    pub(super) fn end(&mut self, is_well: bool) {
        self.shared.lock().is_ended = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take().filter(|_| is_well) {
            // It does not panic; if it did, there is nothing to do about it.
            let _ = thread.join();
        }
    }
}

fn watch(shared: &Shared, handle: &Handle) {
    let mut watched = shared.lock();
    while !watched.is_ended {
        // What cannot be asked is over: the context is lost.
        while watched.works.front().is_some_and(|work| work.event.is_done().unwrap_or(true)) {
            watched.works.pop_front();
        }
        let Some(oldest) = watched.works.front() else {
            watched = shared.changed.wait(watched).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        if oldest.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            handle.fail(handle.comm().timed_out(&oldest.what));
        }
        if !handle.is_well() {
            return;
        }
        let waited = shared.changed.wait_timeout(watched, INTERVAL);
        watched = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}
