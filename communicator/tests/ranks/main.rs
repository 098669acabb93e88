//! Several processes, which mpirun starts: each test runs this program again under it, and there only itself.
//!
//! They run on the CPU device, and on GPUs if there are any, through MPI, and through NCCL if there are as many as processes.
#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod collectives;
mod failures;
mod messages;
mod needs_a_gpu;
mod start;

use std::ffi::OsString;

/// Variables of the processes.
fn environment() -> [(&'static str, OsString); 0] {
    []
}
