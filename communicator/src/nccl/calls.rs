//! The calls of NCCL that a group consists of.

use std::ffi::{c_int, c_void};

use cudarc::nccl::sys::{ncclComm_t, ncclDataType_t, ncclRedOp_t};
use gpukernel::RawArg;

use super::library::{Library, RawStream};
use crate::{ReduceOp, element::Number, transport::Operation};

/// A call, with addresses of the GPU's memory and numbers of elements.
pub(super) enum Call {
    AllReduce { at: usize, count: usize, number: Number, op: ReduceOp },
    Broadcast { at: usize, bytes: usize, root: usize },
    AllGather { from: usize, to: usize, bytes: usize },
    ReduceScatter { from: usize, to: usize, count: usize, number: Number, op: ReduceOp },
    Send { from: usize, bytes: usize, rank: usize },
    Receive { to: usize, bytes: usize, rank: usize },
}

/// Adds the call of an operation, and the memory that it uses.
pub(super) fn of<'a>(operation: Operation<'a>, calls: &mut Vec<Call>, args: &mut Vec<RawArg<'a>>) {
    match operation {
        Operation::AllReduce { number, op, slice } => {
            let (at, count) = (slice.as_mut_ptr() as usize, slice.len() / number.bytes());
            calls.push(Call::AllReduce { at, count, number, op });
            args.push(RawArg::slice_mut(slice));
        }
        Operation::Broadcast { root, slice } => {
            calls.push(Call::Broadcast { at: slice.as_mut_ptr() as usize, bytes: slice.len(), root });
            args.push(RawArg::slice_mut(slice));
        }
        Operation::AllGather { from, to } => {
            let (start, bytes) = (from.as_ptr() as usize, from.len());
            calls.push(Call::AllGather { from: start, to: to.as_mut_ptr() as usize, bytes });
            args.extend([RawArg::slice(from), RawArg::slice_mut(to)]);
        }
        Operation::ReduceScatter { number, op, from, to } => {
            let (start, count) = (from.as_ptr() as usize, to.len() / number.bytes());
            let to_start = to.as_mut_ptr() as usize;
            calls.push(Call::ReduceScatter { from: start, to: to_start, count, number, op });
            args.extend([RawArg::slice(from), RawArg::slice_mut(to)]);
        }
        Operation::Send { from, rank } => {
            calls.push(Call::Send { from: from.as_ptr() as usize, bytes: from.len(), rank });
            args.push(RawArg::slice(from));
        }
        Operation::Receive { to, rank } => {
            calls.push(Call::Receive { to: to.as_mut_ptr() as usize, bytes: to.len(), rank });
            args.push(RawArg::slice_mut(to));
        }
    }
}

impl Call {
    /// Makes the call. The result is the function's name and what it returned.
    ///
    /// # Safety
    /// The memory is of the communicator's GPU, and used by nobody else until the stream is done with it. All processes of the communicator make the same
    /// call, or for messages one that fits.
    pub(super) unsafe fn make(
        &self,
        nccl: &Library,
        comm: ncclComm_t,
        stream: RawStream,
    ) -> (&'static str, c_int) {
        let byte = ncclDataType_t::ncclUint8 as c_int;
        let rank = |rank: usize| c_int::try_from(rank).unwrap_or(c_int::MAX);
        let (read, write) = (|at: usize| at as *const c_void, |at: usize| at as *mut c_void);
        // SAFETY: as the caller promises.
        unsafe {
            match *self {
                Self::AllReduce { at, count, number, op } => {
                    let (number, op) = (datatype(number), reduction(op));
                    let result = (nccl.all_reduce)(read(at), write(at), count, number, op, comm, stream);
                    ("ncclAllReduce", result)
                }
                Self::Broadcast { at, bytes, root } => {
                    let result = (nccl.broadcast)(read(at), write(at), bytes, byte, rank(root), comm, stream);
                    ("ncclBroadcast", result)
                }
                Self::AllGather { from, to, bytes } => {
                    ("ncclAllGather", (nccl.all_gather)(read(from), write(to), bytes, byte, comm, stream))
                }
                Self::ReduceScatter { from, to, count, number, op } => {
                    let (number, op) = (datatype(number), reduction(op));
                    let result =
                        (nccl.reduce_scatter)(read(from), write(to), count, number, op, comm, stream);
                    ("ncclReduceScatter", result)
                }
                Self::Send { from, bytes, rank: to } => {
                    ("ncclSend", (nccl.send)(read(from), bytes, byte, rank(to), comm, stream))
                }
                Self::Receive { to, bytes, rank: from } => {
                    ("ncclRecv", (nccl.receive)(write(to), bytes, byte, rank(from), comm, stream))
                }
            }
        }
    }
}

fn datatype(number: Number) -> c_int {
    let datatype = match number {
        Number::I8 => ncclDataType_t::ncclInt8,
        Number::U8 => ncclDataType_t::ncclUint8,
        Number::I32 => ncclDataType_t::ncclInt32,
        Number::U32 => ncclDataType_t::ncclUint32,
        Number::I64 => ncclDataType_t::ncclInt64,
        Number::U64 => ncclDataType_t::ncclUint64,
        Number::F32 => ncclDataType_t::ncclFloat32,
        Number::F64 => ncclDataType_t::ncclFloat64,
    };
    datatype as c_int
}

fn reduction(op: ReduceOp) -> c_int {
    let op = match op {
        ReduceOp::Sum => ncclRedOp_t::ncclSum,
        ReduceOp::Product => ncclRedOp_t::ncclProd,
        ReduceOp::Min => ncclRedOp_t::ncclMin,
        ReduceOp::Max => ncclRedOp_t::ncclMax,
    };
    op as c_int
}
