//! Moving elements by MPI.

use std::{ffi::c_int, thread, time::Instant};

use gpukernel::{Device, DeviceSlice, Stream};
use mpi::ffi;

use super::{Agreement, Comm, Request, Started, staging::Staging};
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
    pub(crate) fn new(comm: Comm, device: &Device) -> Result<Self> {
        Ok(Self { comm, stream: device.stream()? })
    }

    /// Starts one operation.
    fn start_one<'a>(&self, operation: Operation<'a>) -> Result<Part<'a>> {
        let (comm, stream) = (self.comm.raw(), &self.stream);
        let rank = |rank: usize| c_int::try_from(rank).unwrap_or(c_int::MAX);
        // SAFETY: of all requests here: the memory is that of stagings with as many bytes as the call is told, to which there are no references, and which
        // are freed only after the request is done. Datatypes and reductions are constants of this library.
        unsafe {
            match operation {
                Operation::AllReduce { number, op, slice } => {
                    let (from, mut to) = (Staging::of(stream, slice)?, Staging::zeroed(slice.len()));
                    let (datatype, count) = (datatype(number), rank(slice.len() / number.bytes()));
                    let (start, end) = (from.as_ptr(), to.as_mut_ptr());
                    let request = Request::start("MPI_Iallreduce", |request| {
                        ffi::MPI_Iallreduce(start, end, count, datatype, reduction(op), comm, request)
                    })?;
                    Ok(Part::new(request, Some(from), Some(to), Some(slice)))
                }
                Operation::Broadcast { root, slice } => {
                    let is_root = root == self.comm.rank();
                    let mut bytes =
                        if is_root { Staging::of(stream, slice)? } else { Staging::zeroed(slice.len()) };
                    let (start, count, root) = (bytes.as_mut_ptr(), rank(slice.len()), rank(root));
                    let request = Request::start("MPI_Ibcast", |request| {
                        ffi::MPI_Ibcast(start, count, ffi::RSMPI_UINT8_T, root, comm, request)
                    })?;
                    Ok(Part::new(request, None, Some(bytes), (!is_root).then_some(slice)))
                }
                Operation::AllGather { from, to } => {
                    let (bytes, mut all) = (Staging::of(stream, from)?, Staging::zeroed(to.len()));
                    let (start, end, count) = (bytes.as_ptr(), all.as_mut_ptr(), rank(from.len()));
                    let byte = ffi::RSMPI_UINT8_T;
                    let request = Request::start("MPI_Iallgather", |request| {
                        ffi::MPI_Iallgather(start, count, byte, end, count, byte, comm, request)
                    })?;
                    Ok(Part::new(request, Some(bytes), Some(all), Some(to)))
                }
                Operation::ReduceScatter { number, op, from, to } => {
                    let (all, mut bytes) = (Staging::of(stream, from)?, Staging::zeroed(to.len()));
                    let (datatype, count) = (datatype(number), rank(to.len() / number.bytes()));
                    let (start, end) = (all.as_ptr(), bytes.as_mut_ptr());
                    let request = Request::start("MPI_Ireduce_scatter_block", |request| {
                        let op = reduction(op);
                        ffi::MPI_Ireduce_scatter_block(start, end, count, datatype, op, comm, request)
                    })?;
                    Ok(Part::new(request, Some(all), Some(bytes), Some(to)))
                }
                Operation::Send { from, rank: to } => {
                    let bytes = Staging::of(stream, from)?;
                    let (start, count) = (bytes.as_ptr(), rank(from.len()));
                    let request = Request::start("MPI_Isend", |request| {
                        ffi::MPI_Isend(start, count, ffi::RSMPI_UINT8_T, rank(to), TAG, comm, request)
                    })?;
                    Ok(Part::new(request, Some(bytes), None, None))
                }
                Operation::Receive { to, rank: from } => {
                    let mut bytes = Staging::zeroed(to.len());
                    let (start, count) = (bytes.as_mut_ptr(), rank(to.len()));
                    let request = Request::start("MPI_Irecv", |request| {
                        ffi::MPI_Irecv(start, count, ffi::RSMPI_UINT8_T, rank(from), TAG, comm, request)
                    })?;
                    Ok(Part { sender: Some(from), ..Part::new(request, None, Some(bytes), Some(to)) })
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
        running.checked(agreement.reach(&self.comm))?;
        running.start(collectives)?;
        Ok(Box::new(running))
    }

    fn barrier(&self) -> Result<()> {
        self.comm.barrier(&"barrier")
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
    started: Started,
    to: Option<&'a mut DeviceSlice<u8>>,
    /// Of a message that is received.
    sender: Option<usize>,
}

impl<'a> Part<'a> {
    fn new(
        request: Request,
        from: Option<Staging>,
        bytes: Option<Staging>,
        to: Option<&'a mut DeviceSlice<u8>>,
    ) -> Self {
        Self { started: Started::with(request, from, bytes), to, sender: None }
    }
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
            comm.wait(std::slice::from_mut(&mut part.started), self.deadline, &self.what)?;
        }
        for part in &mut self.parts {
            let (Some(bytes), Some(to)) = (&part.started.to, &mut part.to) else { continue };
            if let Some(from) = part.sender {
                let sent = part.started.request.received_bytes().map_err(|error| comm.fail(error))?;
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
            match part.started.request.test() {
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
