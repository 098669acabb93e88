//! Initialising and ending MPI.

use std::{ffi::c_int, mem::ManuallyDrop};

use gpukernel::Device;
use mpi::{Threading, environment::Universe, ffi};

use super::{
    Agreement, Comm, Mpi,
    calls::{self, State},
};
use crate::{Error, Options, Result, Via, nccl::Nccl, transport::Transport};

/// All processes, and MPI while it runs.
pub(crate) struct World {
    pub(crate) rank: usize,
    pub(crate) size: usize,
    pub(crate) local_rank: usize,
    comm: Comm,
    /// Ends MPI when it is dropped, which is done only if nothing failed.
    universe: ManuallyDrop<Universe>,
}

impl World {
    pub(crate) fn initialise(options: Options) -> Result<Self> {
        let (universe, provided) =
            mpi::initialize_with_threading(Threading::Serialized).ok_or(Error::AlreadyInitialised)?;
        // Not ended if anything fails from here on: others may wait in calls of MPI.
        let universe = ManuallyDrop::new(universe);
        if provided < Threading::Serialized {
            return Err(Error::ThreadLevel { provided: format!("{provided:?}") });
        }
        *calls::state() = State::Running;
        // SAFETY: MPI is initialised, and the constant is of this library.
        let world = unsafe { ffi::RSMPI_COMM_WORLD };
        let local_rank = local_rank(world)?;
        // SAFETY: the handle is that of the world, which is there until MPI ends.
        let comm = unsafe { Comm::duplicate(world, options.setup_timeout)? };
        comm.is_set_up(options.timeout);
        Ok(Self { rank: comm.rank(), size: comm.size(), local_rank, comm, universe })
    }

    /// What moves elements of buffers of `device` between all processes.
    pub(crate) fn transport(&self, device: &Device, options: Options) -> Result<Box<dyn Transport>> {
        Agreement::reach_on(&self.comm, "a new communicator")?;
        // SAFETY: the communicator is there, as `self` is.
        let comm = unsafe { Comm::duplicate(self.comm.raw(), options.setup_timeout)? };
        let via = if device.is_gpu() && !options.is_through_host { Via::Nccl } else { Via::Mpi };
        let is_nccl = u64::from(via == Via::Nccl);
        let [largest, smallest] = comm.largest(&"what moves elements", [is_nccl, !is_nccl])?;
        if largest != !smallest {
            return Err(Error::Mixed { rank: self.rank, this: via });
        }
        Ok(match via {
            Via::Nccl => Box::new(Nccl::new(comm, device, options.timeout)?),
            _ => Box::new(Mpi::new(comm, device, options.timeout)?),
        })
    }

    /// Waits for all processes and ends MPI, unless something failed.
    pub(crate) fn finalize(mut self) -> Result<()> {
        if Comm::has_any_failed() {
            return Ok(());
        }
        match calls::open_requests() {
            0 => {}
            operations => return Err(Error::Leaked { operations }),
        }
        Agreement::reach_on(&self.comm, "the end of all processes")?;
        self.comm.free();
        let mut state = calls::state();
        *state = State::Ended;
        // SAFETY: taken once, and not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.universe) };
        Ok(())
    }
}

/// The rank among the processes of this machine.
fn local_rank(world: ffi::MPI_Comm) -> Result<usize> {
    // SAFETY: a constant of this library.
    let mut local = unsafe { ffi::RSMPI_COMM_NULL };
    let mut rank: c_int = 0;
    calls::call("MPI_Comm_split_type", || {
        // SAFETY: MPI runs, and the handle lives on the stack.
        unsafe {
            ffi::MPI_Comm_split_type(world, ffi::RSMPI_COMM_TYPE_SHARED, 0, ffi::RSMPI_INFO_NULL, &mut local)
        }
    })?;
    // SAFETY: as above.
    calls::call("MPI_Comm_rank", || unsafe { ffi::MPI_Comm_rank(local, &mut rank) })?;
    // SAFETY: as above; nobody else has the handle.
    calls::call("MPI_Comm_free", || unsafe { ffi::MPI_Comm_free(&mut local) })?;
    Ok(usize::try_from(rank).unwrap_or(0))
}
