//! The threads that run blocks: a pool of rayon's, which is the device's own.
//!
//! In the pool of the program, a task that waits for a kernel could sit on the stack of the kernel itself, which rayon lets run other tasks while it waits for
//! its parts: both would wait forever. And a pool of one thread, which waits for a kernel, has none that runs it.

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{CpuDevice, at_work};

/// The pool; none if the system has no threads for it.
pub(super) fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let new = || {
        ThreadPoolBuilder::new()
            .num_threads(count())
            .thread_name(|index| format!("gpukernel-{index}"))
            .start_handler(|_| at_work::begin())
            .build()
            .ok()
    };
    POOL.get_or_init(new).as_ref()
}

/// How many there are: as many as rayon has for the program.
pub(super) fn count() -> usize {
    CpuDevice::get().threads()
}
