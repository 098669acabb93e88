//! Moving elements by MPI.

use std::{
    ffi::c_int,
    thread,
    time::{Duration, Instant},
};

use gpukernel::{Device, DeviceSlice, Stream};
use mpi::ffi;

use super::{Agreement, Comm, Request, staging::Staging};
use crate::{
    Error, ReduceOp, Result,
    element::Number,
    transport::{InFlight, Operation, Transport, Via},
};

/// The tag of messages.
const TAG: c_int = 0;

/// The most that a call of MPI counts to.
const MAX_COUNT: usize = c_int::MAX as usize;

/// MPI, and a stream for copies to and from the host.
pub(crate) struct Mpi {
    comm: Comm,
    stream: Stream,
}

impl Mpi {
    pub(crate) fn new(comm: Comm, device: &Device, timeout: Duration) -> Result<Self> {
        let stream = device.stream()?;
        comm.is_set_up(timeout);
        Ok(Self { comm, stream })
    }

    /// Starts one operation.
    fn start_one<'a>(&self, operation: Operation<'a>) -> Result<Part<'a>> {
        let (comm, stream) = (self.comm.raw(), &self.stream);
        let rank = |rank: usize| c_int::try_from(rank).unwrap_or(c_int::MAX);
        let byte = datatype(Number::U8);
        // SAFETY: of all requests here: as many elements as are in the memory, which is as long as the slices. The communicator is there.
        unsafe {
            match operation {
                Operation::AllReduce { number, op, slice } => {
                    let (from, to) = (Staging::of(stream, slice)?, Staging::zeroed(slice.len()));
                    let (number, count) = (datatype(number), rank(slice.len() / number.bytes()));
                    let start = |from, to, request: *mut _| {
                        ffi::MPI_Iallreduce(from, to, count, number, reduction(op), comm, request)
                    };
                    let request = Request::start("MPI_Iallreduce", Some(from), Some(to), start)?;
                    Ok(Part { request, to: Some(slice), sender: None })
                }
                Operation::Broadcast { root, slice } => {
                    let is_root = root == self.comm.rank();
                    let bytes =
                        if is_root { Staging::of(stream, slice)? } else { Staging::zeroed(slice.len()) };
                    let (count, root) = (rank(slice.len()), rank(root));
                    let start =
                        |_, to, request: *mut _| ffi::MPI_Ibcast(to, count, byte, root, comm, request);
                    let request = Request::start("MPI_Ibcast", None, Some(bytes), start)?;
                    Ok(Part { request, to: (!is_root).then_some(slice), sender: None })
                }
                Operation::AllGather { from, to } => {
                    let (bytes, all) = (Staging::of(stream, from)?, Staging::zeroed(to.len()));
                    let count = rank(from.len());
                    let start = |from, to, request: *mut _| {
                        ffi::MPI_Iallgather(from, count, byte, to, count, byte, comm, request)
                    };
                    let request = Request::start("MPI_Iallgather", Some(bytes), Some(all), start)?;
                    Ok(Part { request, to: Some(to), sender: None })
                }
                Operation::ReduceScatter { number, op, from, to } => {
                    let (all, bytes) = (Staging::of(stream, from)?, Staging::zeroed(to.len()));
                    let (number, count) = (datatype(number), rank(to.len() / number.bytes()));
                    let start = |from, to, request: *mut _| {
                        let op = reduction(op);
                        ffi::MPI_Ireduce_scatter_block(from, to, count, number, op, comm, request)
                    };
                    let name = "MPI_Ireduce_scatter_block";
                    let request = Request::start(name, Some(all), Some(bytes), start)?;
                    Ok(Part { request, to: Some(to), sender: None })
                }
                Operation::Send { from, rank: to } => {
                    let bytes = Staging::of(stream, from)?;
                    let (count, to) = (rank(from.len()), rank(to));
                    let start =
                        |from, _, request: *mut _| ffi::MPI_Isend(from, count, byte, to, TAG, comm, request);
                    let request = Request::start("MPI_Isend", Some(bytes), None, start)?;
                    Ok(Part { request, to: None, sender: None })
                }
                Operation::Receive { to, rank: sender } => {
                    let bytes = Staging::zeroed(to.len());
                    let (count, from) = (rank(to.len()), rank(sender));
                    let start =
                        |_, to, request: *mut _| ffi::MPI_Irecv(to, count, byte, from, TAG, comm, request);
                    let request = Request::start("MPI_Irecv", None, Some(bytes), start)?;
                    Ok(Part { request, to: Some(to), sender: Some(sender) })
                }
            }
        }
    }
}

impl Transport for Mpi {
    fn via(&self) -> Via {
        Via::Mpi
    }

    fn start<'a>(&'a self, operations: Vec<Operation<'a>>) -> Result<Box<dyn InFlight + 'a>> {
        self.comm.check()?;
        for operation in &operations {
            fits(operation)?;
        }
        let what = operations.iter().map(Operation::describe).collect::<Vec<_>>().join(", ");
        let agreement = Agreement::of(&operations);
        let mut running =
            Running { mpi: self, deadline: self.comm.deadline(), what, parts: Vec::new(), is_over: false };
        // Messages first: who waits for one has perhaps not come to the collectives yet.
        let (messages, collectives): (Vec<_>, Vec<_>) = operations
            .into_iter()
            .partition(|operation| matches!(operation, Operation::Send { .. } | Operation::Receive { .. }));
        running.start(messages)?;
        let _alone = agreement.is_needed().then(|| self.comm.start_alone());
        running.checked(agreement.reach(&self.comm))?;
        running.start(collectives)?;
        Ok(Box::new(running))
    }

    fn barrier(&self) -> Result<()> {
        Agreement::reach_on(&self.comm, "a barrier")
    }
}

/// Whether MPI can count the elements.
fn fits(operation: &Operation<'_>) -> Result<()> {
    let (bytes, counted) = match operation {
        Operation::AllReduce { number, slice, .. } => (slice.len(), slice.len() / number.bytes()),
        Operation::Broadcast { slice, .. } => (slice.len(), slice.len()),
        Operation::AllGather { from, .. } | Operation::Send { from, .. } => (from.len(), from.len()),
        Operation::ReduceScatter { number, to, .. } => (to.len(), to.len() / number.bytes()),
        Operation::Receive { to, .. } => (to.len(), to.len()),
    };
    if counted <= MAX_COUNT {
        return Ok(());
    }
    Err(Error::TooLarge { what: operation.describe(), bytes, allowed: MAX_COUNT })
}

/// A request, and where what it receives belongs.
struct Part<'a> {
    request: Request,
    to: Option<&'a mut DeviceSlice<u8>>,
    /// Of a message that is received.
    sender: Option<usize>,
}

/// A group that was started.
struct Running<'a> {
    mpi: &'a Mpi,
    deadline: Option<Instant>,
    what: String,
    parts: Vec<Part<'a>>,
    /// Waited for, or failed.
    is_over: bool,
}

impl<'a> Running<'a> {
    fn start(&mut self, operations: Vec<Operation<'a>>) -> Result<()> {
        for operation in operations {
            let part = self.mpi.start_one(operation);
            let part = self.checked(part.map_err(|error| self.mpi.comm.fail(error)))?;
            self.parts.push(part);
        }
        Ok(())
    }

    /// Does not wait for anything any more after an error.
    fn checked<R>(&mut self, result: Result<R>) -> Result<R> {
        self.is_over |= result.is_err();
        result
    }

    fn finish(&mut self) -> Result<()> {
        let comm = &self.mpi.comm;
        for part in &mut self.parts {
            comm.wait(std::slice::from_mut(&mut part.request), self.deadline, &self.what)?;
        }
        for part in &mut self.parts {
            let (Some(bytes), Some(to)) = (part.request.received(), &mut part.to) else { continue };
            if let Some(from) = part.sender {
                let sent = part.request.received_bytes().map_err(|error| comm.fail(error))?;
                let received = to.len();
                if sent != received {
                    let error = Error::MessageLength { from, to: comm.rank(), sent, received };
                    return Err(comm.fail(error));
                }
            }
            bytes.copy_to(&self.mpi.stream, to).map_err(|error| comm.fail(error))?;
        }
        Ok(())
    }
}

impl InFlight for Running<'_> {
    fn is_done(&mut self) -> Result<bool> {
        if self.is_over {
            return Ok(true);
        }
        for part in &mut self.parts {
            match part.request.test() {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => {
                    self.is_over = true;
                    return Err(self.mpi.comm.fail(error));
                }
            }
        }
        Ok(true)
    }

    fn wait(&mut self) -> Result<()> {
        if self.is_over {
            return self.mpi.comm.failure();
        }
        self.is_over = true;
        self.finish()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // While the program ends by a panic, it does not wait for others: what MPI still uses is leaked.
        if !self.is_over && !thread::panicking() {
            // The error is that of the next call.
            let _ = self.finish();
        }
    }
}

fn datatype(number: Number) -> ffi::MPI_Datatype {
    // SAFETY: constants of this library.
    unsafe {
        match number {
            Number::I8 => ffi::RSMPI_INT8_T,
            Number::U8 => ffi::RSMPI_UINT8_T,
            Number::I32 => ffi::RSMPI_INT32_T,
            Number::U32 => ffi::RSMPI_UINT32_T,
            Number::I64 => ffi::RSMPI_INT64_T,
            Number::U64 => ffi::RSMPI_UINT64_T,
            Number::F32 => ffi::RSMPI_FLOAT,
            Number::F64 => ffi::RSMPI_DOUBLE,
        }
    }
}

fn reduction(op: ReduceOp) -> ffi::MPI_Op {
    // SAFETY: constants of this library.
    unsafe {
        match op {
            ReduceOp::Sum => ffi::RSMPI_SUM,
            ReduceOp::Product => ffi::RSMPI_PROD,
            ReduceOp::Min => ffi::RSMPI_MIN,
            ReduceOp::Max => ffi::RSMPI_MAX,
        }
    }
}
