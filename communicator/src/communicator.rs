//! Communicators: the operations between processes.

use std::fmt;

use gpukernel::{Device, DeviceSlice};

use crate::{
    Element, Group, Pending, ReduceOp, Reducible, Result,
    local::Local,
    transport::{Transport, Via},
};

/// Processes that move elements between buffers of their devices (`MPI_Comm`, `ncclComm_t`): one device for each.
///
/// Methods wait until this process has what it gets; [`start`](Self::start) does not wait. Creating and dropping a communicator are collective, too. Threads can share one:
/// the order of their collectives has to be the same in all processes.
#[doc(alias = "MPI_Comm", alias = "ncclComm_t", alias = "ProcessGroup")]
pub struct Communicator {
    transport: Box<dyn Transport>,
    device: Device,
    rank: usize,
    size: usize,
}

impl Communicator {
    pub(crate) fn new(transport: Box<dyn Transport>, device: &Device, rank: usize, size: usize) -> Self {
        Self { transport, device: device.clone(), rank, size }
    }

    /// A communicator of this process alone (`MPI_COMM_SELF`), also where there are others: what it computes can be compared with what all compute.
    ///
    /// ```
    /// use gpukernel_communicator::Communicator;
    ///
    /// let alone = Communicator::single(&gpukernel::Device::cpu())?;
    /// assert_eq!((alone.rank(), alone.size()), (0, 1));
    /// # Ok::<(), gpukernel_communicator::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::stream`].
    #[doc(alias = "MPI_COMM_SELF")]
    pub fn single(device: &Device) -> Result<Self> {
        Ok(Self::new(Box::new(Local::new(device)?), device, 0, 1))
    }

    /// The number of this process, from 0 (`MPI_Comm_rank`, `ncclCommUserRank`).
    #[doc(alias = "MPI_Comm_rank", alias = "ncclCommUserRank", alias = "get_rank")]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of processes (`MPI_Comm_size`, `ncclCommCount`).
    #[doc(alias = "MPI_Comm_size", alias = "ncclCommCount", alias = "get_world_size")]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The device of this process, whose buffers it uses.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What moves the elements.
    ///
    /// ```
    /// use gpukernel_communicator::{Communicator, Via};
    ///
    /// assert_eq!(Communicator::single(&gpukernel::Device::cpu())?.via(), Via::Local);
    /// # Ok::<(), gpukernel_communicator::Error>(())
    /// ```
    pub fn via(&self) -> Via {
        self.transport.via()
    }

    /// Starts operations together, beside which other work can run, on the device and on the host (`MPI_Isend`, `ncclGroupStart`). On a GPU they run
    /// on a stream of the communicator's.
    ///
    /// Messages of a group do not wait for each other, so that all processes can send first. All processes have the same collectives in a group, in
    /// the same order; starting them waits until every process has started them.
    ///
    /// The first operation of a kind by NCCL loads its kernels and makes connections, for which the GPU has to finish what is queued: do not start it behind a stream that
    /// is [held back](gpukernel::Stream::hold).
    ///
    /// ```
    /// use gpukernel_communicator::{Communicator, Error};
    ///
    /// let device = gpukernel::Device::cpu();
    /// let communicator = Communicator::single(&device)?;
    /// let (edge, mut halo) = (device.upload(&[1, 2, 3])?, device.zeroed::<i32>(3)?);
    /// let (before, after) = (0, 0); // the ranks of neighbours
    /// let exchange = communicator.start(|group| {
    ///     group.send(&edge, after)?;
    ///     group.receive(&mut halo, before)
    /// })?;
    /// // … kernels that do not use `halo`
    /// exchange.wait()?;
    /// assert_eq!(halo.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// What `queue` returns; [`Error::Mismatch`](crate::Error::Mismatch), [`Error::MessageLength`](crate::Error::MessageLength) and
    /// [`Error::TimedOut`](crate::Error::TimedOut) if other processes do something else or nothing, [`Error::Failed`](crate::Error::Failed) after another
    /// error, or what the device, MPI or NCCL report.
    #[doc(
        alias = "ncclGroupStart",
        alias = "ncclGroupEnd",
        alias = "MPI_Isend",
        alias = "MPI_Irecv",
        alias = "batch_isend_irecv"
    )]
    pub fn start<'a>(&'a self, queue: impl FnOnce(&mut Group<'a>) -> Result<()>) -> Result<Pending<'a>> {
        let mut group = Group::new(self.rank, self.size);
        queue(&mut group)?;
        Ok(Pending::new(self.transport.start(group.operations)?))
    }

    /// Waits until all processes have called this (`MPI_Barrier`). It does not wait for work of the devices.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    #[doc(alias = "MPI_Barrier")]
    pub fn barrier(&self) -> Result<()> {
        self.transport.barrier()
    }

    /// Reduces elements of all processes by index, in place: every process gets the results (`MPI_Allreduce`, `ncclAllReduce`).
    ///
    /// ```
    /// use gpukernel_communicator::{Communicator, ReduceOp};
    ///
    /// let device = gpukernel::Device::cpu();
    /// let communicator = Communicator::single(&device)?;
    /// let mut largest = device.upload(&[communicator.rank() as f64])?;
    /// communicator.all_reduce(&mut largest, ReduceOp::Max)?;
    /// assert_eq!(largest.to_vec()?, [communicator.size() as f64 - 1.0]);
    /// # Ok::<(), gpukernel_communicator::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`start`](Self::start) and [`Pending::wait`].
    #[doc(alias = "MPI_Allreduce", alias = "ncclAllReduce", alias = "allreduce")]
    pub fn all_reduce<T: Reducible>(&self, slice: &mut DeviceSlice<T>, op: ReduceOp) -> Result<()> {
        self.start(|group| group.all_reduce(slice, op))?.wait()
    }

    /// Copies the elements of the process `root` to the slices of all others (`MPI_Bcast`, `ncclBroadcast`).
    ///
    /// # Errors
    /// As [`start`](Self::start) and [`Pending::wait`].
    #[doc(alias = "MPI_Bcast", alias = "ncclBroadcast", alias = "ncclBcast")]
    pub fn broadcast<T: Element>(&self, slice: &mut DeviceSlice<T>, root: usize) -> Result<()> {
        self.start(|group| group.broadcast(slice, root))?.wait()
    }

    /// Copies the elements of all processes to every one, in the order of ranks (`MPI_Allgather`, `ncclAllGather`): `to` has
    /// [`size`](Self::size) times as many as `from`.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length), else as [`start`](Self::start) and [`Pending::wait`].
    #[doc(alias = "MPI_Allgather", alias = "ncclAllGather", alias = "allgather")]
    pub fn all_gather<T: Element>(&self, from: &DeviceSlice<T>, to: &mut DeviceSlice<T>) -> Result<()> {
        self.start(|group| group.all_gather(from, to))?.wait()
    }

    /// Reduces elements of all processes by index, and gives each process its part of the results, in the order of ranks
    /// (`MPI_Reduce_scatter_block`, `ncclReduceScatter`): `from` has [`size`](Self::size) times as many elements as `to`.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length), else as [`start`](Self::start) and [`Pending::wait`].
    #[doc(alias = "MPI_Reduce_scatter_block", alias = "ncclReduceScatter")]
    pub fn reduce_scatter<T: Reducible>(
        &self,
        from: &DeviceSlice<T>,
        to: &mut DeviceSlice<T>,
        op: ReduceOp,
    ) -> Result<()> {
        self.start(|group| group.reduce_scatter(from, to, op))?.wait()
    }

    /// Sends elements to the process `rank` (`MPI_Send`, `ncclSend`), which [receives](Self::receive) as many. It may wait until that process
    /// does: to send and receive in turn, [`start`](Self::start) both.
    ///
    /// # Errors
    /// As [`start`](Self::start) and [`Pending::wait`]; [`Error::NoPartner`](crate::Error::NoPartner) for the own rank in a communicator of one.
    #[doc(alias = "MPI_Send", alias = "ncclSend")]
    pub fn send<T: Element>(&self, from: &DeviceSlice<T>, rank: usize) -> Result<()> {
        self.start(|group| group.send(from, rank))?.wait()
    }

    /// Receives elements that the process `rank` [sends](Self::send), in the order in which it does (`MPI_Recv`, `ncclRecv`).
    ///
    /// # Errors
    /// As [`send`](Self::send), and [`Error::MessageLength`](crate::Error::MessageLength) if they are more or less than the slice has.
    #[doc(alias = "MPI_Recv", alias = "ncclRecv")]
    pub fn receive<T: Element>(&self, to: &mut DeviceSlice<T>, rank: usize) -> Result<()> {
        self.start(|group| group.receive(to, rank))?.wait()
    }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Communicator")
            .field("rank", &self.rank)
            .field("size", &self.size)
            .field("device", &self.device)
            .field("via", &self.via())
            .finish()
    }
}
