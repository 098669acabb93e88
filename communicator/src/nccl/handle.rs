//! A communicator of NCCL (`ncclComm_t`) that does not block: whatever it is asked, this waits for with a timeout.

use std::{
    ffi::{c_char, c_int},
    mem, ptr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use cudarc::nccl::sys::{ncclComm_t, ncclConfig_t, ncclUniqueId};
use gpukernel::Stream;

use super::{
    calls::Call,
    library::{IN_PROGRESS, Library, RawStream, SUCCESS},
};
use crate::{
    Error, Result,
    mpi::{Comm, Pause},
};

/// Bytes of `ncclUniqueId`, and one that says whether there is one.
const ID_BYTES: usize = size_of::<ncclUniqueId>() + 1;

/// See the module.
pub(super) struct Handle {
    library: &'static Library,
    comm: Comm,
    /// Null once it was aborted or destroyed.
    raw: Mutex<Raw>,
}

#[derive(Clone, Copy)]
struct Raw(ncclComm_t);

// SAFETY: NCCL's communicators may be used by every thread, one at a time, for which there is a lock.
unsafe impl Send for Raw {}

impl Handle {
    /// Creates a communicator of the processes of `comm`, for the GPU of the stream.
    pub(super) fn create(library: &'static Library, comm: Comm, stream: &Stream) -> Result<Self> {
        let handle = Self { library, comm, raw: Mutex::new(Raw(ptr::null_mut())) };
        let id = handle.share_id()?;
        // With the GPU's context current.
        // SAFETY: nothing is queued.
        let created = unsafe { stream.queue(&[], |_| handle.initialise(id)) };
        created.map_err(|error| handle.fail(error.into()))??;
        Ok(handle)
    }

    pub(super) fn comm(&self) -> &Comm {
        &self.comm
    }

    fn raw(&self) -> MutexGuard<'_, Raw> {
        self.raw.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The identifier that process 0 gets of NCCL.
    fn share_id(&self) -> Result<ncclUniqueId> {
        let mut bytes = [0; ID_BYTES];
        let mut own_error = None;
        if self.comm.rank() == 0 {
            // SAFETY: an array of bytes.
            let mut id: ncclUniqueId = unsafe { mem::zeroed() };
            // SAFETY: the pointer is to a live identifier.
            let result = unsafe { (self.library.get_unique_id)(&mut id) };
            if result == SUCCESS {
                for (byte, of_id) in bytes.iter_mut().zip(id.internal) {
                    *byte = of_id as u8;
                }
                bytes[ID_BYTES - 1] = 1;
            } else {
                // SAFETY: there is no communicator.
                own_error = Some(unsafe { self.library.error("ncclGetUniqueId", result, ptr::null_mut()) });
            }
        }
        let bytes = self.comm.broadcast_bytes(&"NCCL's identifier", bytes)?;
        if let Some(error) = own_error {
            return Err(error);
        }
        if bytes[ID_BYTES - 1] == 0 {
            return Err(Error::NoNcclElsewhere);
        }
        // SAFETY: an array of bytes.
        let mut id: ncclUniqueId = unsafe { mem::zeroed() };
        for (of_id, byte) in id.internal.iter_mut().zip(bytes) {
            *of_id = byte as c_char;
        }
        Ok(id)
    }

    fn initialise(&self, id: ncclUniqueId) -> Result<()> {
        let count = |count: usize| c_int::try_from(count).unwrap_or(c_int::MAX);
        let (size, rank) = (count(self.comm.size()), count(self.comm.rank()));
        let mut config = config();
        let mut raw = self.raw();
        // SAFETY: the pointers are to a live handle and configuration, and the GPU's context is current.
        let result = unsafe { (self.library.init_rank_config)(&mut raw.0, size, id, rank, &mut config) };
        let deadline = self.comm.deadline();
        self.settle(&mut raw, "ncclCommInitRankConfig", result, deadline, &"a communicator of NCCL")
    }

    /// Queues calls, all together. The GPU's context is current.
    ///
    /// # Safety
    /// As [`Call::make`].
    pub(super) unsafe fn queue(
        &self,
        calls: &[Call],
        stream: RawStream,
        deadline: Option<Instant>,
        what: &str,
    ) -> Result<()> {
        let mut raw = self.raw();
        // The watchdog may have ended it.
        self.comm.check()?;
        // SAFETY: a group of this thread.
        let mut first = ("ncclGroupStart", unsafe { (self.library.group_start)() });
        if first.1 == SUCCESS {
            for call in calls {
                // SAFETY: as the caller promises; the communicator is there.
                let made = unsafe { call.make(self.library, raw.0, stream) };
                if ![SUCCESS, IN_PROGRESS].contains(&made.1) {
                    first = made;
                    break;
                }
            }
            // Also after an error, or the thread would stay in the group.
            // SAFETY: the group was started.
            let end = ("ncclGroupEnd", unsafe { (self.library.group_end)() });
            if first.1 == SUCCESS {
                first = end;
            }
        }
        self.settle(&mut raw, first.0, first.1, deadline, &what)
    }

    /// Waits until NCCL is done with a call. If it fails or takes too long, the communicator is aborted.
    fn settle(
        &self,
        raw: &mut Raw,
        call: &'static str,
        result: c_int,
        deadline: Option<Instant>,
        what: &dyn std::fmt::Display,
    ) -> Result<()> {
        let (mut result, mut pause) = (result, Pause::default());
        while result == IN_PROGRESS {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(self.abort(raw, self.comm.timed_out(what)));
            }
            pause.pause();
            // SAFETY: the communicator is there.
            let asked = unsafe { (self.library.get_async_error)(raw.0, &mut result) };
            if asked != SUCCESS {
                result = asked;
            }
        }
        if result == SUCCESS {
            return Ok(());
        }
        // SAFETY: null, or a communicator that is there.
        let error = unsafe { self.library.error(call, result, raw.0) };
        Err(self.abort(raw, error))
    }

    /// Whether it goes on: not after an error that NCCL found meanwhile, such as a connection that broke. Then it is aborted.
    pub(super) fn is_well(&self) -> bool {
        let error = {
            let raw = self.raw();
            if raw.0.is_null() {
                return false;
            }
            let mut result = SUCCESS;
            // SAFETY: the communicator is there.
            let asked = unsafe { (self.library.get_async_error)(raw.0, &mut result) };
            let result = if asked == SUCCESS { result } else { asked };
            if [SUCCESS, IN_PROGRESS].contains(&result) {
                return true;
            }
            // SAFETY: as above.
            unsafe { self.library.error("work of NCCL", result, raw.0) }
        };
        self.fail(error);
        false
    }

    /// Refuses everything from now on, and ends what NCCL does.
    pub(super) fn fail(&self, error: Error) -> Error {
        // First, so that who waits for its work finds the error when it is over, and nobody uses it from here on.
        let error = self.comm.fail(error);
        // Taken out of the lock, for which nobody should wait while NCCL ends.
        let mut taken = Raw(mem::replace(&mut self.raw().0, ptr::null_mut()));
        self.abort_quietly(&mut taken);
        error
    }

    fn abort(&self, raw: &mut Raw, error: Error) -> Error {
        // In this order, too.
        let error = self.comm.fail(error);
        self.abort_quietly(raw);
        error
    }

    fn abort_quietly(&self, raw: &mut Raw) {
        let comm = mem::replace(&mut raw.0, ptr::null_mut());
        if !comm.is_null() {
            // What it returns is of no use: the communicator is not used any more.
            // SAFETY: the communicator is there, and nobody else has it.
            unsafe { (self.library.abort)(comm) };
        }
    }

    /// Destroys the communicator: with the stream, on which its work is done, together with other processes; else at once.
    pub(super) fn end(&self, stream: Option<&Stream>) {
        let is_well = self.comm.check().is_ok();
        let finalized = stream.filter(|_| is_well).map(|stream| {
            // SAFETY: nothing is queued.
            unsafe { stream.queue(&[], |_| self.finalize()) }
        });
        if !matches!(finalized, Some(Ok(Ok(())))) {
            self.abort_quietly(&mut self.raw());
        }
    }

    fn finalize(&self) -> Result<()> {
        let mut raw = self.raw();
        if raw.0.is_null() {
            return Ok(());
        }
        // SAFETY: the communicator is there.
        let result = unsafe { (self.library.finalize)(raw.0) };
        let deadline = self.comm.deadline();
        self.settle(&mut raw, "ncclCommFinalize", result, deadline, &"the end of a communicator")?;
        let comm = mem::replace(&mut raw.0, ptr::null_mut());
        // SAFETY: as above, and nobody else has it.
        unsafe { (self.library.destroy)(comm) };
        Ok(())
    }
}

/// `NCCL_CONFIG_INITIALIZER`, and that calls do not block.
fn config() -> ncclConfig_t {
    /// `NCCL_CONFIG_UNDEF_INT`
    const UNDEFINED: c_int = c_int::MIN;
    /// `NCCL_API_MAGIC`
    const MAGIC: u32 = 0xcafe_beef;
    /// That of the header which the type is of: 2.30.
    const VERSION: u32 = 23000;
    ncclConfig_t {
        size: size_of::<ncclConfig_t>(),
        magic: MAGIC,
        version: VERSION,
        blocking: 0,
        cgaClusterSize: UNDEFINED,
        minCTAs: UNDEFINED,
        maxCTAs: UNDEFINED,
        netName: ptr::null(),
        splitShare: UNDEFINED,
        trafficClass: UNDEFINED,
        commName: ptr::null(),
        collnetEnable: UNDEFINED,
        CTAPolicy: UNDEFINED,
        shrinkShare: UNDEFINED,
        nvlsCTAs: UNDEFINED,
        nChannelsPerNetPeer: UNDEFINED,
        nvlinkCentricSched: UNDEFINED,
        graphUsageMode: UNDEFINED,
        maxP2pPeers: UNDEFINED,
        numRmaCtx: UNDEFINED,
    }
}
