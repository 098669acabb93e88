//! Requests of MPI (`MPI_Request`), which own the memory that MPI uses.

use std::{
    ffi::{c_int, c_void},
    mem, ptr, thread,
    time::{Duration, Instant},
};

use mpi::ffi;

use super::{
    calls::{call, note_closed, note_opened},
    staging::Staging,
};
use crate::Result;

/// What MPI is working on, with the memory that it uses. Dropped before it is done, the memory is leaked.
pub(crate) struct Request {
    raw: ffi::MPI_Request,
    /// What became of it, once it is done.
    done: Option<ffi::MPI_Status>,
    /// What MPI reads.
    from: Option<Staging>,
    /// What MPI writes.
    to: Option<Staging>,
}

impl Request {
    /// Starts an operation that reads one memory and writes the other, whose addresses `code` gets; null for none.
    ///
    /// # Safety
    /// `code` calls the function of this name, with a communicator that is there, and as many elements as are in the memory.
    pub(crate) unsafe fn start(
        name: &'static str,
        from: Option<Staging>,
        mut to: Option<Staging>,
        code: impl FnOnce(*const c_void, *mut c_void, *mut ffi::MPI_Request) -> c_int,
    ) -> Result<Self> {
        // SAFETY: a constant.
        let mut raw = unsafe { ffi::RSMPI_REQUEST_NULL };
        let start = from.as_ref().map_or(ptr::null(), Staging::as_ptr);
        let end = to.as_mut().map_or(ptr::null_mut(), Staging::as_mut_ptr);
        match call(name, || code(start, end, &mut raw)) {
            Ok(()) => {
                note_opened();
                Ok(Self { raw, done: None, from, to })
            }
            Err(error) => {
                // What MPI does after an error is not defined.
                mem::forget((from, to));
                Err(error)
            }
        }
    }

    /// Whether it is done. Lets MPI work on it, and on others.
    pub(crate) fn test(&mut self) -> Result<bool> {
        if self.done.is_some() {
            return Ok(true);
        }
        let mut is_done: c_int = 0;
        // SAFETY: a status is integers and pointers that nobody follows, for which zero is valid.
        let mut status: ffi::MPI_Status = unsafe { mem::zeroed() };
        // SAFETY: the request is one that is not done; the others are on the stack.
        call("MPI_Test", || unsafe { ffi::MPI_Test(&mut self.raw, &mut is_done, &mut status) })?;
        if is_done == 0 {
            return Ok(false);
        }
        note_closed();
        self.done = Some(status);
        Ok(true)
    }

    /// What was received, once it is done.
    pub(crate) fn received(&self) -> Option<&Staging> {
        self.done.and(self.to.as_ref())
    }

    /// The bytes of the message that was received, if it is done.
    pub(crate) fn received_bytes(&self) -> Result<usize> {
        let Some(status) = &self.done else { return Ok(0) };
        let mut bytes: c_int = 0;
        // SAFETY: MPI wrote the status, of a message of bytes.
        call("MPI_Get_count", || unsafe { ffi::MPI_Get_count(status, ffi::RSMPI_UINT8_T, &mut bytes) })?;
        Ok(usize::try_from(bytes).unwrap_or(0))
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if self.done.is_none() {
            mem::forget((self.from.take(), self.to.take()));
        }
    }
}

/// Waits until all are done, or the time is up: then it is false.
pub(super) fn wait_for(requests: &mut [Request], deadline: Option<Instant>) -> Result<bool> {
    let mut pause = Pause::default();
    for request in requests {
        while !request.test()? {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            pause.pause();
        }
    }
    Ok(true)
}

/// Waits longer, the longer one has waited: messages on one machine take a microsecond, and where processes share cores the others need this one.
#[derive(Default)]
pub(crate) struct Pause {
    turns: u32,
}

impl Pause {
    /// Turns without giving the core to others, and then those that do: about 20 µs, and some milliseconds.
    const SPIN: u32 = 100;
    const YIELD: u32 = 5000;

    pub(crate) fn pause(&mut self) {
        self.turns = self.turns.saturating_add(1);
        match self.turns {
            ..Self::SPIN => std::hint::spin_loop(),
            Self::SPIN..Self::YIELD => thread::yield_now(),
            Self::YIELD.. => thread::sleep(Duration::from_micros(100)),
        }
    }
}
