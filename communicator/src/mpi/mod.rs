//! MPI: the processes, and moving elements through memory of the host.
//!
//! The `mpi` crate initialises and ends MPI. Its safe functions drop what MPI returns and wait without end, so that calls are made by its `ffi`
//! here: each checks what is returned, and waits poll requests that own their memory.

mod agreement;
mod calls;
mod comm;
mod request;
mod staging;
mod transport;
mod world;

pub(crate) use agreement::Agreement;
pub(crate) use comm::Comm;
pub(crate) use request::{Pause, Request};
pub(crate) use transport::Mpi;
pub(crate) use world::World;
