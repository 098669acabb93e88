//! Operations that run beside other work.

use std::fmt;

use crate::{Result, transport::InFlight};

/// Operations that were started by [`Communicator::start`](crate::Communicator::start), and borrow their slices until they are waited for (`MPI_Request`).
///
/// Dropped, it waits, and an error is that of the communicator's next call. Leaked (`mem::forget`), the slices can be used again: on the CPU device
/// nothing is received then; on a GPU work that uses the slices comes after the operations.
///
/// ```compile_fail,E0502
/// # use gpukernel_communicator::{Communicator, ReduceOp};
/// # let device = gpukernel::Device::cpu();
/// # let communicator = Communicator::single(&device)?;
/// # let mut sum = device.upload(&[1.0_f32])?;
/// let pending = communicator.start(|group| group.all_reduce(&mut sum, ReduceOp::Sum))?;
/// sum.to_vec()?; // an error of the compiler: it is not there yet
/// pending.wait()?;
/// # Ok::<(), gpukernel_communicator::Error>(())
/// ```
#[doc(alias = "MPI_Request", alias = "MPI_Wait")]
#[must_use = "dropped, it waits for the operations"]
pub struct Pending<'a> {
    in_flight: Box<dyn InFlight + 'a>,
}

impl<'a> Pending<'a> {
    pub(crate) fn new(in_flight: Box<dyn InFlight + 'a>) -> Self {
        Self { in_flight }
    }

    /// Whether all operations are done, without waiting (`MPI_Test`). MPI moves long messages only while it is called: beside long work on the CPU
    /// device, call this from time to time.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    #[doc(alias = "MPI_Test")]
    pub fn is_done(&mut self) -> Result<bool> {
        self.in_flight.is_done()
    }

    /// Waits until all operations are done (`MPI_Wait`).
    ///
    /// # Errors
    /// [`Error::TimedOut`](crate::Error::TimedOut) if another process does not do its part, [`Error::MessageLength`](crate::Error::MessageLength), or what
    /// MPI, NCCL or the device report. The communicator cannot be used any more then.
    #[doc(alias = "MPI_Wait", alias = "MPI_Waitall", alias = "cudaStreamSynchronize")]
    pub fn wait(mut self) -> Result<()> {
        self.in_flight.wait()
    }

    /// Lets the slices be used again without waiting on a GPU: work that is queued for them comes after the operations. On the CPU device it waits.
    ///
    /// If the operations fail, that is the error of the communicator's next call, and what was received until then is not to be used: wait for the last ones,
    /// or make a call, before results are.
    ///
    /// ```
    /// use gpukernel_communicator::{Communicator, ReduceOp};
    ///
    /// let device = gpukernel::Device::cpu();
    /// let communicator = Communicator::single(&device)?;
    /// let mut sum = device.upload(&[1.0_f32])?;
    /// for _ in 0..10 {
    ///     // … a kernel that writes `sum`
    ///     communicator.start(|group| group.all_reduce(&mut sum, ReduceOp::Sum))?.detach()?;
    ///     // … a kernel that reads `sum`, which the host queues before the reduction is done
    /// }
    /// communicator.barrier()?;
    /// # Ok::<(), gpukernel_communicator::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`wait`](Self::wait), where it waits, else those of operations before.
    #[doc(alias = "cudaStreamWaitEvent")]
    pub fn detach(mut self) -> Result<()> {
        self.in_flight.detach()
    }
}

impl fmt::Debug for Pending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").finish_non_exhaustive()
    }
}
