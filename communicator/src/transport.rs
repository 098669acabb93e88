//! The seam between what moves elements: one process, MPI, NCCL.

use gpukernel::DeviceSlice;

use crate::{ReduceOp, Result, element::Number};

/// What moves the elements of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Via {
    /// Copies on the device: there is one process.
    Local,
    /// MPI, from and to memory of the host.
    Mpi,
    /// NCCL, between GPUs.
    Nccl,
}

/// A part of a group, with the bytes of the slices.
pub(crate) enum Operation<'a> {
    AllReduce { number: Number, op: ReduceOp, slice: &'a mut DeviceSlice<u8> },
    Broadcast { root: usize, slice: &'a mut DeviceSlice<u8> },
    AllGather { from: &'a DeviceSlice<u8>, to: &'a mut DeviceSlice<u8> },
    ReduceScatter { number: Number, op: ReduceOp, from: &'a DeviceSlice<u8>, to: &'a mut DeviceSlice<u8> },
    Send { from: &'a DeviceSlice<u8>, rank: usize },
    Receive { to: &'a mut DeviceSlice<u8>, rank: usize },
}

impl Operation<'_> {
    /// Its name in errors.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::AllReduce { number, op, slice } => {
                format!("all_reduce({op:?}) of {} {number:?}", slice.len() / number.bytes())
            }
            Self::Broadcast { root, slice } => format!("broadcast of {} bytes from rank {root}", slice.len()),
            Self::AllGather { from, .. } => format!("all_gather of {} bytes of each process", from.len()),
            Self::ReduceScatter { number, op, to, .. } => {
                format!("reduce_scatter({op:?}) of {} {number:?} for each process", to.len() / number.bytes())
            }
            Self::Send { from, rank } => format!("send of {} bytes to rank {rank}", from.len()),
            Self::Receive { to, rank } => format!("receive of {} bytes from rank {rank}", to.len()),
        }
    }
}

/// What moves elements.
pub(crate) trait Transport: Send + Sync {
    fn via(&self) -> Via;

    /// Starts the operations of a group.
    fn start<'a>(&'a self, operations: Vec<Operation<'a>>) -> Result<Box<dyn InFlight + 'a>>;

    /// Waits for all processes.
    fn barrier(&self) -> Result<()>;
}

/// Operations that were started. Dropped, they are waited for.
pub(crate) trait InFlight {
    /// Whether they are done, without waiting.
    fn is_done(&mut self) -> Result<bool>;

    /// Waits until they are done, and elements are where they belong. Again has no effect.
    fn wait(&mut self) -> Result<()>;

    /// Lets the slices be used, by work that comes after the operations.
    fn detach(&mut self) -> Result<()> {
        self.wait()
    }
}
