//! The end of a process that is observed (`cargo gpukernel sanitize`): queued work is done before, so that mistakes are found in programs that do not wait for it.
//! Other processes end at once.

use std::{
    ffi::c_int,
    sync::Once,
    thread,
    time::{Duration, Instant},
};

use super::{at_work, hold, queue};
use crate::report;

unsafe extern "C" {
    /// C's, which every program of std is linked with.
    fn atexit(code: extern "C" fn()) -> c_int;
}

/// Lets the process wait at its end, if somebody observes it.
pub(super) fn prepare() {
    static ONCE: Once = Once::new();
    if report::of_process().is_some() {
        ONCE.call_once(|| {
            // SAFETY: the function does not unwind, and uses nothing that ends before the process. If there is no room for it, nobody waits.
            let _ = unsafe { atexit(wait) };
        });
    }
}

/// Waits until all work is done, or what is left is behind a stream that nobody releases any more.
extern "C" fn wait() {
    const PATIENCE: Duration = Duration::from_secs(1);
    if at_work::is_here() {
        return;
    }
    let (mut done, mut since) = (queue::done_by_all(), Instant::now());
    while !queue::are_all_idle() {
        thread::sleep(Duration::from_millis(1));
        let now = queue::done_by_all();
        if now != done {
            (done, since) = (now, Instant::now());
        }
        if hold::are_there() && since.elapsed() > PATIENCE {
            return;
        }
    }
}
