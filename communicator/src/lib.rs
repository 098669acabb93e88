//! Collectives and messages between processes, on device memory: NCCL for GPUs, MPI for the CPU device, one API for both.
//!
//! mpirun or Slurm start the processes, one for each device. [`World::run`] gives each its rank and its device, and a [`Communicator`] moves
//! elements of buffers between them. A program runs with one process, too, without mpirun:
//!
//! ```
//! use gpukernel_communicator::{Error, ReduceOp, World};
//!
//! World::run(|world| {
//!     let device = world.device()?;
//!     let communicator = world.communicator(&device)?;
//!     let mut sum = device.upload(&[communicator.rank() as u64 + 1])?;
//!     communicator.all_reduce(&mut sum, ReduceOp::Sum)?;
//!     let n = communicator.size() as u64;
//!     assert_eq!(sum.to_vec()?, [n * (n + 1) / 2]);
//!     Ok::<(), Error>(())
//! })
//! # .unwrap();
//! ```
//!
//! With several processes the feature `mpi` is needed, which links MPI: `mpirun -n 4 target/release/program`. For GPUs NCCL is loaded when a
//! communicator is created; `cargo gpukernel setup --nccl` fetches it.
//!
//! # If a process dies
//!
//! Nothing waits for longer than [`Options::timeout`], or [`Options::setup_timeout`] where a communicator is made: five minutes if nobody says. The processes that are left get [`Error::TimedOut`], or what MPI
//! or NCCL find out before, and their communicator refuses all that comes after. By default mpirun ends them before, as soon as it notices; with
//! Open MPI 4, `mpirun --enable-recovery` lets them go on.
//!
//! # Order
//!
//! What a communicator does comes after the work that is queued for the same memory, and before what is queued later, as with work on a
//! [`Stream`](gpukernel::Stream). All processes do the same collectives in the same order; a process that does another one is found out
//! ([`Error::Mismatch`]) before memory is touched.

#[cfg(not(feature = "mpi"))]
mod alone;
#[cfg(doctest)]
mod book;
mod communicator;
mod element;
mod error;
mod group;
mod local;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(feature = "mpi")]
mod nccl;
mod options;
mod pending;
mod transport;
mod world;

pub use communicator::Communicator;
pub use element::{Element, ReduceOp, Reducible};
pub use error::{Error, Result};
pub use group::Group;
pub use options::Options;
pub use pending::Pending;
pub use transport::Via;
pub use world::World;
