//! Releases a stream that is held back for too long: whoever waits for it would wait forever.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};

use gpukernel::Hold;

/// Queueing some hundred launches takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// A thread that watches one held stream at a time.
pub(crate) struct Watchdog {
    /// A stream that is held back, or that it is no longer.
    messages: Sender<Option<Arc<Hold>>>,
    has_released: Arc<AtomicBool>,
}

impl Watchdog {
    pub(crate) fn new() -> Self {
        Self::with_patience(PATIENCE)
    }

    fn with_patience(patience: Duration) -> Self {
        let (messages, received) = mpsc::channel::<Option<Arc<Hold>>>();
        let has_released = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&has_released);
        // It ends when the sender is dropped.
        thread::spawn(move || {
            while let Ok(message) = received.recv() {
                let Some(hold) = message else { continue };
                if let Err(RecvTimeoutError::Timeout) = received.recv_timeout(patience) {
                    tell.store(true, Ordering::Relaxed);
                    hold.release();
                }
            }
        });
        Self { messages, has_released }
    }

    /// Runs `queue` while a stream is held back, releases the stream, and says whether that was done before, because `queue` took too long.
    pub(crate) fn watch<R>(&self, hold: Hold, queue: impl FnOnce() -> R) -> (R, bool) {
        let hold = Arc::new(hold);
        self.has_released.store(false, Ordering::Relaxed);
        // The thread lives as long as the sender.
        let _ = self.messages.send(Some(Arc::clone(&hold)));
        let result = queue();
        let _ = self.messages.send(None);
        hold.release();
        (result, self.has_released.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpukernel::Device;

    #[test]
    fn it_tells_of_what_takes_too_long() {
        let stream = Device::cpu().default_stream();
        let watchdog = Watchdog::with_patience(Duration::ZERO);
        let released = || watchdog.has_released.load(Ordering::Relaxed);
        let (value, was_released) = watchdog.watch(stream.hold().unwrap(), || {
            while !released() {
                thread::yield_now();
            }
            7
        });
        assert_eq!((value, was_released), (7, true));
        let watchdog = Watchdog::with_patience(Duration::from_secs(3600));
        assert_eq!(watchdog.watch(stream.hold().unwrap(), || 8), (8, false));
    }
}
