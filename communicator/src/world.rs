//! All processes that were started together.

use std::{env, fmt, marker::PhantomData};

use gpukernel::Device;

#[cfg(not(feature = "mpi"))]
use crate::alone::World as Processes;
#[cfg(feature = "mpi")]
use crate::mpi::World as Processes;
use crate::{Communicator, Error, Options, Result};

/// The variable by which users choose a device.
const DEVICE_VARIABLE: &str = "GPUKERNEL_DEVICE";

/// All processes that mpirun or Slurm started together (`MPI_COMM_WORLD`): what [`World::run`] lends.
#[doc(alias = "MPI_COMM_WORLD", alias = "Universe", alias = "mpi::initialize")]
pub struct World {
    processes: Processes,
    options: Options,
    /// MPI is ended by the thread that initialised it.
    thread: PhantomData<*const ()>,
}

impl World {
    /// Initialises MPI (`MPI_Init_thread`), runs `code`, waits for all processes to do so, and ends MPI (`MPI_Finalize`). Without the feature `mpi` there
    /// is one process, and all of it is a call of `code`.
    ///
    /// Starting has no timeout: a process that dies before it has initialised MPI is a matter of mpirun's.
    ///
    /// If `code` fails or panics, or a communicator failed, MPI is not ended, which would wait for processes that may be dead: let the
    /// process end then. mpirun notices, and ends the others.
    ///
    /// ```
    /// use gpukernel_communicator::{Error, World};
    ///
    /// let sizes = World::run(|world| Ok::<_, Error>((world.rank(), world.size())));
    /// # assert_eq!(sizes.unwrap(), (0, 1));
    /// ```
    ///
    /// # Errors
    /// What `code` returns; [`Error::NeedsMpi`] if there are several processes and no feature `mpi`; [`Error::AlreadyInitialised`],
    /// [`Error::ThreadLevel`]; at the end [`Error::TimedOut`] if another process does not end, or [`Error::Leaked`].
    #[doc(
        alias = "MPI_Init",
        alias = "MPI_Init_thread",
        alias = "MPI_Finalize",
        alias = "init_process_group"
    )]
    pub fn run<R, E: From<Error>>(code: impl FnOnce(&Self) -> Result<R, E>) -> Result<R, E> {
        Self::run_with(Options::new(), code)
    }

    /// As [`run`](Self::run), with other options for [`communicator`](Self::communicator), and a timeout for the wait at the end.
    ///
    /// ```
    /// use std::time::Duration;
    /// use gpukernel_communicator::{Error, Options, World};
    ///
    /// let options = Options::new().timeout(Duration::from_secs(20));
    /// World::run_with(options, |world| world.communicator(&world.device()?)?.barrier()).unwrap();
    /// ```
    ///
    /// # Errors
    /// As there.
    pub fn run_with<R, E: From<Error>>(
        options: Options,
        code: impl FnOnce(&Self) -> Result<R, E>,
    ) -> Result<R, E> {
        let world = Self { processes: Processes::initialise(options)?, options, thread: PhantomData };
        let result = code(&world)?;
        world.processes.finalize()?;
        Ok(result)
    }

    /// The number of this process, from 0.
    #[doc(alias = "MPI_Comm_rank", alias = "get_rank")]
    pub fn rank(&self) -> usize {
        self.processes.rank
    }

    /// The number of processes.
    #[doc(alias = "MPI_Comm_size", alias = "get_world_size")]
    pub fn size(&self) -> usize {
        self.processes.size
    }

    /// The number of this process among those of its machine, from 0 (`MPI_COMM_TYPE_SHARED`).
    #[doc(alias = "MPI_Comm_split_type", alias = "LOCAL_RANK", alias = "OMPI_COMM_WORLD_LOCAL_RANK")]
    pub fn local_rank(&self) -> usize {
        self.processes.local_rank
    }

    /// The device of this process: as [`Device::best`], but each process of a machine gets the next GPU, and starts over where there are more
    /// processes than GPUs. `GPUKERNEL_DEVICE` with `cpu` or one GPU, such as `gpu:1`, holds for all.
    ///
    /// ```
    /// use gpukernel_communicator::{Error, World};
    ///
    /// World::run(|world| {
    ///     println!("rank {} of {} on {}", world.rank(), world.size(), world.device()?);
    ///     Ok::<(), Error>(())
    /// })
    /// # .unwrap();
    /// ```
    ///
    /// # Errors
    /// As [`Device::best`].
    #[doc(alias = "cudaSetDevice")]
    pub fn device(&self) -> Result<Device> {
        let asked = env::var(DEVICE_VARIABLE).unwrap_or_default();
        if !["", "best", "gpu"].contains(&asked.as_str()) {
            return Ok(Device::best()?);
        }
        let index = self.local_rank();
        match Device::gpu(index) {
            Err(gpukernel::Error::NoSuchGpu { present, .. }) if present > 0 => {
                Ok(Device::gpu(index % present)?)
            }
            // As that says if there is none.
            Err(gpukernel::Error::NoSuchGpu { .. } | gpukernel::Error::NoDriver { .. }) => {
                Ok(Device::best()?)
            }
            found => Ok(found?),
        }
    }

    /// Creates a communicator of all processes, which call this at the same time, with buffers of `device` in this one (`MPI_Comm_dup`,
    /// `ncclCommInitRank`). GPUs use NCCL; the CPU device uses MPI.
    ///
    /// ```
    /// use gpukernel_communicator::{Error, World};
    ///
    /// World::run(|world| {
    ///     let communicator = world.communicator(&world.device()?)?;
    ///     communicator.barrier()
    /// })
    /// # .unwrap();
    /// ```
    ///
    /// # Errors
    /// [`Error::NoNccl`], [`Error::NoNcclElsewhere`], [`Error::Mixed`], [`Error::TimedOut`], or what MPI, NCCL or the device report: NCCL refuses a GPU that
    /// two processes share.
    #[doc(alias = "MPI_Comm_dup", alias = "ncclCommInitRank", alias = "new_group")]
    pub fn communicator(&self, device: &Device) -> Result<Communicator> {
        self.communicator_with(device, self.options)
    }

    /// As [`communicator`](Self::communicator), with options, which are the same for all processes.
    ///
    /// # Errors
    /// As there.
    pub fn communicator_with(&self, device: &Device, options: Options) -> Result<Communicator> {
        let transport = self.processes.transport(device, options)?;
        Ok(Communicator::new(transport, device, self.rank(), self.size()))
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("rank", &self.rank())
            .field("size", &self.size())
            .field("local_rank", &self.local_rank())
            .finish()
    }
}
