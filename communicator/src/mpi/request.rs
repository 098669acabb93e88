//! Requests of MPI (`MPI_Request`), which own the memory that MPI uses.

use std::{
    ffi::c_int,
    mem, thread,
    time::{Duration, Instant},
};

use mpi::ffi;

use super::{
    calls::{call, note_closed, note_opened},
    staging::Staging,
};
use crate::Result;

/// What MPI is working on.
pub(crate) struct Request {
    raw: ffi::MPI_Request,
    /// What became of it, once it is done.
    done: Option<ffi::MPI_Status>,
}

impl Request {
    /// Starts an operation.
    ///
    /// # Safety
    /// `code` calls the function of this name, with a communicator that is there. The memory that it gets, to which there are no references, is there until
    /// the request is done.
    pub(crate) unsafe fn start(
        name: &'static str,
        code: impl FnOnce(*mut ffi::MPI_Request) -> c_int,
    ) -> Result<Self> {
        // SAFETY: a constant.
        let mut raw = unsafe { ffi::RSMPI_REQUEST_NULL };
        call(name, || code(&mut raw))?;
        note_opened();
        Ok(Self { raw, done: None })
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

    /// The bytes of the message that was received, if it is done.
    pub(crate) fn received_bytes(&self) -> Result<usize> {
        let Some(status) = &self.done else { return Ok(0) };
        let mut bytes: c_int = 0;
        // SAFETY: MPI wrote the status, of a message of bytes.
        call("MPI_Get_count", || unsafe { ffi::MPI_Get_count(status, ffi::RSMPI_UINT8_T, &mut bytes) })?;
        Ok(usize::try_from(bytes).unwrap_or(0))
    }
}

/// A request with the memory that it uses. Dropped before it is done, the memory is leaked.
pub(crate) struct Started {
    pub(crate) request: Request,
    /// What MPI reads.
    pub(crate) from: Option<Staging>,
    /// What MPI writes.
    pub(crate) to: Option<Staging>,
}

impl Started {
    pub(crate) fn new(request: Request) -> Self {
        Self::with(request, None, None)
    }

    pub(crate) fn with(request: Request, from: Option<Staging>, to: Option<Staging>) -> Self {
        Self { request, from, to }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if self.request.done.is_none() {
            mem::forget((self.from.take(), self.to.take()));
        }
    }
}

/// Waits until all are done, or the time is up: then it is false.
pub(crate) fn wait_for(requests: &mut [Started], deadline: Option<Instant>) -> Result<bool> {
    let mut pause = Pause::default();
    for started in requests {
        while !started.request.test()? {
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
