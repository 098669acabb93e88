//! Calls of MPI: one at a time, none after its end, and what they return is checked.

use std::{
    ffi::{c_char, c_int},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use mpi::ffi;

use crate::{Error, Result};

/// Whether MPI can be called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Not yet, or not any more.
    Ended,
    Running,
}

/// Also the lock that keeps threads from calling MPI at once, which `MPI_THREAD_SERIALIZED` asks for.
static STATE: Mutex<State> = Mutex::new(State::Ended);

/// Requests that MPI may still be working on.
static OPEN_REQUESTS: AtomicUsize = AtomicUsize::new(0);

pub(super) fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn open_requests() -> usize {
    OPEN_REQUESTS.load(Ordering::Relaxed)
}

pub(super) fn note_opened() {
    OPEN_REQUESTS.fetch_add(1, Ordering::Relaxed);
}

pub(super) fn note_closed() {
    OPEN_REQUESTS.fetch_sub(1, Ordering::Relaxed);
}

/// Makes one call of MPI, which is named for errors.
pub(super) fn call(name: &'static str, code: impl FnOnce() -> c_int) -> Result<()> {
    let state = state();
    if *state != State::Running {
        return Err(Error::Finalized { call: name });
    }
    checked(name, code())
}

/// What a call returned, as a result. The lock is held.
pub(super) fn checked(name: &'static str, code: c_int) -> Result<()> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    let mut text = vec![0_u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut len: c_int = 0;
    // SAFETY: the text has room for the longest message, and nobody else calls MPI meanwhile.
    let known = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &mut len) };
    text.truncate(if known == ffi::MPI_SUCCESS as c_int { usize::try_from(len).unwrap_or(0) } else { 0 });
    Err(Error::Mpi { call: name, code, message: String::from_utf8_lossy(&text).into_owned() })
}
