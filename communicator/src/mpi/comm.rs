//! A communicator of MPI, with a timeout, that refuses everything after a failure.

use std::{
    ffi::c_int,
    fmt::Display,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use mpi::ffi;

use super::{
    calls::{self, call},
    request::{Request, wait_for},
    staging::Staging,
};
use crate::{Error, Result};

/// Whether a communicator of this process failed, after which MPI is not ended.
static HAS_ANY_FAILED: AtomicBool = AtomicBool::new(false);

/// See the module.
pub(crate) struct Comm {
    raw: ffi::MPI_Comm,
    rank: usize,
    size: usize,
    /// Until it is set up.
    setup_timeout: Duration,
    timeout: OnceLock<Duration>,
    failed: OnceLock<Error>,
    /// Of who agrees with other processes and starts what was agreed on, one after another.
    starting: Mutex<()>,
}

// SAFETY: a handle of MPI is not bound to a thread, and calls are made one at a time (`calls`).
unsafe impl Send for Comm {}
// SAFETY: as above.
unsafe impl Sync for Comm {}

impl Comm {
    /// A communicator of the same processes, which all call this.
    ///
    /// # Safety
    /// The handle is of a communicator that is there.
    pub(super) unsafe fn duplicate(other: ffi::MPI_Comm, setup_timeout: Duration) -> Result<Self> {
        let (mut rank, mut size): (c_int, c_int) = (0, 0);
        // SAFETY: the caller's communicator, and integers on the stack; so are the next.
        call("MPI_Comm_rank", || unsafe { ffi::MPI_Comm_rank(other, &mut rank) })?;
        // SAFETY: as above.
        call("MPI_Comm_size", || unsafe { ffi::MPI_Comm_size(other, &mut size) })?;
        // Errors are returned, also those of making the new one, which inherits this.
        // SAFETY: as above, and a constant.
        call("MPI_Comm_set_errhandler", || unsafe {
            ffi::MPI_Comm_set_errhandler(other, ffi::RSMPI_ERRORS_RETURN)
        })?;
        let (rank, size) = (usize::try_from(rank).unwrap_or(0), usize::try_from(size).unwrap_or(1));
        // MPI writes the handle when the request is done, wherever this function is by then.
        // SAFETY: a constant.
        let new = Box::into_raw(Box::new(unsafe { ffi::RSMPI_COMM_NULL }));
        let failed = OnceLock::new();
        // SAFETY: a constant, replaced below.
        let null = unsafe { ffi::RSMPI_COMM_NULL };
        let (timeout, starting) = (OnceLock::new(), Mutex::new(()));
        let mut comm = Self { raw: null, rank, size, setup_timeout, timeout, failed, starting };
        // SAFETY: the communicator is the caller's, and the handle is not freed before the request is done.
        let request = unsafe {
            Request::start("MPI_Comm_idup", None, None, |_, _, request| {
                ffi::MPI_Comm_idup(other, new, request)
            })?
        };
        comm.wait(&mut [request], comm.deadline(), &"a new communicator")?;
        // SAFETY: it came from a box, and MPI is done with it.
        comm.raw = *unsafe { Box::from_raw(new) };
        let raw = comm.raw;
        // SAFETY: as above.
        call("MPI_Comm_set_errhandler", || unsafe {
            ffi::MPI_Comm_set_errhandler(raw, ffi::RSMPI_ERRORS_RETURN)
        })?;
        Ok(comm)
    }

    pub(super) fn raw(&self) -> ffi::MPI_Comm {
        self.raw
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Lets operations take so long from now on.
    pub(crate) fn is_set_up(&self, timeout: Duration) {
        self.timeout.get_or_init(|| timeout);
    }

    fn timeout(&self) -> Duration {
        self.timeout.get().copied().unwrap_or(self.setup_timeout)
    }

    /// When what is started now has taken too long; `None` if that is beyond what a clock can say.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(self.timeout())
    }

    pub(super) fn has_any_failed() -> bool {
        HAS_ANY_FAILED.load(Ordering::Relaxed)
    }

    /// # Errors
    /// [`Error::Failed`] after [`fail`](Self::fail).
    pub(crate) fn check(&self) -> Result<()> {
        match self.failed.get() {
            None => Ok(()),
            Some(error) => Err(Error::Failed { reason: error.to_string() }),
        }
    }

    /// # Errors
    /// That of [`fail`](Self::fail), for whoever waits for what failed.
    pub(crate) fn failure(&self) -> Result<()> {
        self.failed.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Refuses everything from now on, because of an error.
    pub(crate) fn fail(&self, error: Error) -> Error {
        HAS_ANY_FAILED.store(true, Ordering::Relaxed);
        self.failed.get_or_init(|| error.clone());
        error
    }

    /// That something took too long.
    pub(crate) fn timed_out(&self, what: &dyn Display) -> Error {
        Error::TimedOut { what: what.to_string(), rank: self.rank, size: self.size, waited: self.timeout() }
    }

    /// Keeps other threads from starting collectives: all processes need the same order of what they agree on and what they start.
    pub(crate) fn start_alone(&self) -> MutexGuard<'_, ()> {
        self.starting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for requests until they are done, or one fails, or time is up; then the communicator has failed.
    pub(crate) fn wait(
        &self,
        requests: &mut [Request],
        deadline: Option<Instant>,
        what: &dyn Display,
    ) -> Result<()> {
        match wait_for(requests, deadline) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.fail(self.timed_out(what))),
            Err(error) => Err(self.fail(error)),
        }
    }

    /// An error of MPI is the last of this communicator.
    fn checked(&self, request: Result<Request>) -> Result<Request> {
        request.map_err(|error| self.fail(error))
    }

    /// The largest of each number among all processes, which all call this.
    pub(crate) fn largest<const N: usize>(&self, what: &dyn Display, numbers: [u64; N]) -> Result<[u64; N]> {
        self.check()?;
        let (from, to) = (Some(Staging::of_words(&numbers)), Some(Staging::of_words(&[0; N])));
        // SAFETY: there are so many numbers in both.
        let request = unsafe {
            Request::start("MPI_Iallreduce", from, to, |from, to, request| {
                let (number, max) = (ffi::RSMPI_UINT64_T, ffi::RSMPI_MAX);
                ffi::MPI_Iallreduce(from, to, N as c_int, number, max, self.raw, request)
            })
        };
        let mut requests = [self.checked(request)?];
        self.wait(&mut requests, self.deadline(), what)?;
        let mut largest = [0; N];
        if let Some(received) = requests[0].received() {
            largest.copy_from_slice(received.words());
        }
        Ok(largest)
    }

    /// Copies bytes of the process 0 to all.
    pub(crate) fn broadcast_bytes<const N: usize>(
        &self,
        what: &dyn Display,
        bytes: [u8; N],
    ) -> Result<[u8; N]> {
        self.check()?;
        let mut staging = Staging::zeroed(N);
        staging.bytes_mut().copy_from_slice(&bytes);
        // SAFETY: there are so many bytes.
        let request = unsafe {
            Request::start("MPI_Ibcast", None, Some(staging), |_, to, request| {
                ffi::MPI_Ibcast(to, N as c_int, ffi::RSMPI_UINT8_T, 0, self.raw, request)
            })
        };
        let mut requests = [self.checked(request)?];
        self.wait(&mut requests, self.deadline(), what)?;
        let mut all = bytes;
        if let Some(received) = requests[0].received() {
            all.copy_from_slice(received.bytes());
        }
        Ok(all)
    }

    /// Starts to send a number to a process.
    pub(crate) fn send_number(&self, number: u64, rank: usize, tag: c_int) -> Result<Request> {
        let (from, rank) = (Staging::of_words(&[number]), c_int::try_from(rank).unwrap_or(c_int::MAX));
        // SAFETY: there is one number.
        self.checked(unsafe {
            Request::start("MPI_Isend", Some(from), None, |from, _, request| {
                ffi::MPI_Isend(from, 1, ffi::RSMPI_UINT64_T, rank, tag, self.raw, request)
            })
        })
    }

    /// Starts to receive a number of a process.
    pub(crate) fn receive_number(&self, rank: usize, tag: c_int) -> Result<Request> {
        let (to, rank) = (Staging::of_words(&[0]), c_int::try_from(rank).unwrap_or(c_int::MAX));
        // SAFETY: there is room for one number.
        self.checked(unsafe {
            Request::start("MPI_Irecv", None, Some(to), |_, to, request| {
                ffi::MPI_Irecv(to, 1, ffi::RSMPI_UINT64_T, rank, tag, self.raw, request)
            })
        })
    }

    /// Gives the communicator back to MPI, unless something failed, after which MPI may still use it.
    pub(super) fn free(&mut self) {
        // SAFETY: constants.
        let null = unsafe { ffi::RSMPI_COMM_NULL };
        let is_idle = !Self::has_any_failed() && calls::open_requests() == 0;
        if self.raw != null && is_idle {
            // What it returns is of no use: the handle is not used any more.
            // SAFETY: nobody else has the handle.
            let _ = call("MPI_Comm_free", || unsafe { ffi::MPI_Comm_free(&mut self.raw) });
        }
        self.raw = null;
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        self.free();
    }
}
