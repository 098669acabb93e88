//! Operations that are started together.

use std::fmt;

use gpukernel::DeviceSlice;

use crate::{Element, Error, ReduceOp, Reducible, Result, transport::Operation};

/// Operations that [`Communicator::start`](crate::Communicator::start) starts together (`ncclGroupStart`). Slices are borrowed until the
/// [`Pending`](crate::Pending) is waited for.
#[doc(alias = "ncclGroupStart", alias = "ncclGroupEnd", alias = "batch_isend_irecv")]
pub struct Group<'a> {
    rank: usize,
    size: usize,
    pub(crate) operations: Vec<Operation<'a>>,
}

impl<'a> Group<'a> {
    pub(crate) fn new(rank: usize, size: usize) -> Self {
        Self { rank, size, operations: Vec::new() }
    }

    /// The rank of this process.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of processes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// As [`Communicator::all_reduce`](crate::Communicator::all_reduce).
    ///
    /// # Errors
    /// None so far.
    #[doc(alias = "MPI_Iallreduce")]
    pub fn all_reduce<T: Reducible>(&mut self, slice: &'a mut DeviceSlice<T>, op: ReduceOp) -> Result<()> {
        self.operations.push(Operation::AllReduce { number: T::NUMBER, op, slice: slice.cast_mut()? });
        Ok(())
    }

    /// As [`Communicator::broadcast`](crate::Communicator::broadcast).
    ///
    /// # Errors
    /// [`Error::NoSuchRank`]
    #[doc(alias = "MPI_Ibcast")]
    pub fn broadcast<T: Element>(&mut self, slice: &'a mut DeviceSlice<T>, root: usize) -> Result<()> {
        self.exists(root)?;
        self.operations.push(Operation::Broadcast { root, slice: slice.cast_mut()? });
        Ok(())
    }

    /// As [`Communicator::all_gather`](crate::Communicator::all_gather).
    ///
    /// # Errors
    /// [`Error::Length`]
    #[doc(alias = "MPI_Iallgather")]
    pub fn all_gather<T: Element>(
        &mut self,
        from: &'a DeviceSlice<T>,
        to: &'a mut DeviceSlice<T>,
    ) -> Result<()> {
        self.has_parts("the slice that gets the elements of all", to.len(), from.len())?;
        self.operations.push(Operation::AllGather { from: from.cast()?, to: to.cast_mut()? });
        Ok(())
    }

    /// As [`Communicator::reduce_scatter`](crate::Communicator::reduce_scatter).
    ///
    /// # Errors
    /// [`Error::Length`]
    #[doc(alias = "MPI_Ireduce_scatter_block")]
    pub fn reduce_scatter<T: Reducible>(
        &mut self,
        from: &'a DeviceSlice<T>,
        to: &'a mut DeviceSlice<T>,
        op: ReduceOp,
    ) -> Result<()> {
        self.has_parts("the slice with elements for all", from.len(), to.len())?;
        let (number, from) = (T::NUMBER, from.cast()?);
        self.operations.push(Operation::ReduceScatter { number, op, from, to: to.cast_mut()? });
        Ok(())
    }

    /// As [`Communicator::send`](crate::Communicator::send).
    ///
    /// # Errors
    /// [`Error::NoSuchRank`]
    #[doc(alias = "MPI_Isend", alias = "ncclSend")]
    pub fn send<T: Element>(&mut self, from: &'a DeviceSlice<T>, rank: usize) -> Result<()> {
        self.exists(rank)?;
        self.operations.push(Operation::Send { from: from.cast()?, rank });
        Ok(())
    }

    /// As [`Communicator::receive`](crate::Communicator::receive).
    ///
    /// # Errors
    /// [`Error::NoSuchRank`]
    #[doc(alias = "MPI_Irecv", alias = "ncclRecv")]
    pub fn receive<T: Element>(&mut self, to: &'a mut DeviceSlice<T>, rank: usize) -> Result<()> {
        self.exists(rank)?;
        self.operations.push(Operation::Receive { to: to.cast_mut()?, rank });
        Ok(())
    }

    fn exists(&self, rank: usize) -> Result<()> {
        if rank < self.size { Ok(()) } else { Err(Error::NoSuchRank { rank, size: self.size }) }
    }

    /// Whether a slice has a part of so many elements for each process.
    fn has_parts(&self, what: &'static str, found: usize, part: usize) -> Result<()> {
        match part.checked_mul(self.size) {
            Some(expected) if expected == found => Ok(()),
            expected => Err(Error::Length { what, found, expected: expected.unwrap_or(usize::MAX) }),
        }
    }
}

impl fmt::Debug for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("operations", &self.operations.len()).finish_non_exhaustive()
    }
}
