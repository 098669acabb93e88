//! Threads that do the work of the CPU device: they must not wait for it, because it waits for them.

use std::cell::Cell;

use super::{CpuDevice, origin::Author};
use crate::{Error, Result, backend::Backend};

thread_local! {
    static AT_WORK: Cell<bool> = const { Cell::new(false) };
    static AUTHOR: Cell<Option<Author>> = const { Cell::new(None) };
}

/// Says that this thread does the device's work from now on.
pub(super) fn begin() {
    AT_WORK.set(true);
}

/// Whether this is a thread that runs kernels or callbacks.
pub(super) fn is_here() -> bool {
    // At the end of a thread nothing is left of its memory, and it runs destructors of the program.
    AT_WORK.try_with(Cell::get).unwrap_or(false)
}

/// Does work that a thread of the program has queued, whose errors are that thread's. On the thread of a stream, whose work does not unwind.
pub(super) fn work_of(author: Author, code: impl FnOnce()) {
    AUTHOR.set(Some(author));
    code();
    AUTHOR.set(None);
}

/// Who queued the work that is done on this thread.
pub(super) fn author() -> Option<Author> {
    AUTHOR.get()
}

/// # Errors
/// [`Error::WaitInCallback`] on a thread that runs kernels or callbacks.
pub(super) fn check_wait() -> Result<()> {
    match is_here() {
        false => Ok(()),
        true => Err(Error::WaitInCallback { device: CpuDevice::get().describe() }),
    }
}
