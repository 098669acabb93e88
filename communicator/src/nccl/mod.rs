//! Moving elements between GPUs by NCCL. MPI carries its identifier to all processes, and what they agree on before each group.

mod calls;
mod handle;
mod library;
mod watchdog;

use std::{sync::Arc, thread, time::Duration};

use gpukernel::{Device, Event, RawArg, Stream};

use self::{calls::Call, handle::Handle, library::Library, watchdog::Watchdog};
use crate::{
    Error, Result,
    mpi::{Agreement, Comm, Request},
    transport::{InFlight, Operation, Transport, Via},
};

/// Tags of the lengths of messages: what a sender sends, and what a receiver sends.
const OF_SENDER: i32 = 1;
const OF_RECEIVER: i32 = 2;

/// A communicator of NCCL, with the stream that its work is queued on.
pub(crate) struct Nccl {
    stream: Stream,
    handle: Arc<Handle>,
    watchdog: Watchdog,
}

impl Nccl {
    pub(crate) fn new(comm: Comm, device: &Device, timeout: Duration) -> Result<Self> {
        let library = Library::get();
        let [is_missing] = comm.largest(&"NCCL of all processes", [u64::from(library.is_err())])?;
        let library = library?;
        if is_missing != 0 {
            return Err(Error::NoNcclElsewhere);
        }
        let stream = device.stream()?;
        let handle = Arc::new(Handle::create(library, comm, &stream)?);
        let watchdog = Watchdog::start(&handle)?;
        handle.comm().is_set_up(timeout);
        Ok(Self { stream, handle, watchdog })
    }

    fn comm(&self) -> &Comm {
        self.handle.comm()
    }

    /// Compares the lengths of messages with those of their other ends, which NCCL does not.
    fn compare_lengths(&self, operations: &[Operation<'_>], what: &str) -> Result<()> {
        let comm = self.comm();
        let (mut requests, mut messages): (Vec<Request>, Vec<_>) = (Vec::new(), Vec::new());
        for operation in operations {
            let (rank, bytes, own, other) = match operation {
                Operation::Send { from, rank } => (*rank, from.len(), OF_SENDER, OF_RECEIVER),
                Operation::Receive { to, rank } => (*rank, to.len(), OF_RECEIVER, OF_SENDER),
                _ => continue,
            };
            requests.push(comm.receive_number(rank, other)?);
            requests.push(comm.send_number(bytes as u64, rank, own)?);
            messages.push((rank, bytes, own == OF_SENDER));
        }
        comm.wait(&mut requests, comm.deadline(), &what)?;
        for ((rank, bytes, is_sent), request) in messages.into_iter().zip(requests.iter().step_by(2)) {
            let theirs = request.received().and_then(|number| number.words().first().copied()).unwrap_or(0);
            if theirs != bytes as u64 {
                let theirs = usize::try_from(theirs).unwrap_or(usize::MAX);
                let (from, to, sent, received) = match is_sent {
                    true => (comm.rank(), rank, bytes, theirs),
                    false => (rank, comm.rank(), theirs, bytes),
                };
                return Err(comm.fail(Error::MessageLength { from, to, sent, received }));
            }
        }
        Ok(())
    }
}

impl Transport for Nccl {
    fn via(&self) -> Via {
        Via::Nccl
    }

    fn start<'a>(&'a self, operations: Vec<Operation<'a>>) -> Result<Box<dyn InFlight + 'a>> {
        let comm = self.comm();
        comm.check()?;
        let what = operations.iter().map(Operation::describe).collect::<Vec<_>>().join(", ");
        let deadline = comm.deadline();
        // NCCL wants its calls in the same order of all processes, also those for messages.
        let _alone = comm.start_alone();
        self.compare_lengths(&operations, &what)?;
        Agreement::of(&operations).reach(comm)?;
        let (calls, args): (Vec<Call>, Vec<RawArg<'a>>) = {
            let (mut calls, mut args) = (Vec::new(), Vec::new());
            for operation in operations {
                calls::of(operation, &mut calls, &mut args);
            }
            (calls, args)
        };
        // SAFETY: the calls are queued when this returns, and read and write the slices of the operations, with numbers for which all bits are valid. All
        // processes make them for as many elements.
        let queued =
            unsafe { self.stream.queue(&args, |stream| self.handle.queue(&calls, stream, deadline, &what)) };
        queued.map_err(|error| self.handle.fail(error.into()))??;
        let event = self.stream.record().map_err(|error| self.handle.fail(error.into()))?;
        self.watchdog.watch(event.clone(), deadline, what);
        Ok(Box::new(Running { comm, event, is_detached: false }))
    }

    fn barrier(&self) -> Result<()> {
        Agreement::reach_on(self.comm(), "a barrier")
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        // Ended by the watchdog if other processes do not do their part.
        let is_done = !thread::panicking() && self.stream.synchronize().is_ok();
        self.watchdog.end(self.comm().check().is_ok());
        self.handle.end(is_done.then_some(&self.stream));
    }
}

/// A group that was started. The slices can be used by others: what is queued for them comes after it.
struct Running<'a> {
    comm: &'a Comm,
    event: Event,
    is_detached: bool,
}

impl InFlight for Running<'_> {
    fn is_done(&mut self) -> Result<bool> {
        let is_done = self.event.is_done();
        self.comm.failure()?;
        Ok(is_done?)
    }

    fn wait(&mut self) -> Result<()> {
        let waited = self.event.synchronize();
        self.comm.failure()?;
        Ok(waited?)
    }

    fn detach(&mut self) -> Result<()> {
        self.is_detached = true;
        self.comm.failure()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.is_detached && !thread::panicking() {
            // The error is that of the next call.
            let _ = self.wait();
        }
    }
}
