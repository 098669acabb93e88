//! Errors.

use std::time::Duration;

/// What goes wrong between processes.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device reported an error.
    #[error(transparent)]
    Device(#[from] gpukernel::Error),

    /// The program was started as several processes, but was built without MPI.
    #[error(
        "this is one of {processes} processes ({variable} says so), but the program was built without MPI and they cannot talk to each other: build it \
         with the feature `mpi` of gpukernel-communicator"
    )]
    NeedsMpi {
        /// How many processes there are.
        processes: usize,
        /// The variable that says so.
        variable: &'static str,
    },

    /// MPI was initialised before: a process has one world.
    #[error(
        "MPI was initialised before in this process, by `World::run` or by others: call `World::run` once, and around all of it"
    )]
    AlreadyInitialised,

    /// MPI cannot be called from several threads in turn.
    #[error(
        "MPI provides the thread level {provided}, and MPI_THREAD_SERIALIZED is needed: use an MPI that was built with threads"
    )]
    ThreadLevel {
        /// What `MPI_Init_thread` returned.
        provided: String,
    },

    /// The world has ended.
    #[error("{call} after `World::run` has ended MPI: use communicators inside of it")]
    Finalized {
        /// What was called.
        call: &'static str,
    },

    /// MPI was not ended, because it may still use memory.
    #[error(
        "{operations} operations of communicators were neither waited for nor dropped, so that MPI cannot end: do not `mem::forget` a `Pending`"
    )]
    Leaked {
        /// How many.
        operations: usize,
    },

    /// MPI reported an error.
    #[error("{call} failed with code {code}: {message}")]
    Mpi {
        /// The function.
        call: &'static str,
        /// What it returned.
        code: i32,
        /// What MPI says to that.
        message: String,
    },

    /// Another process did not do its part in time.
    #[error(
        "rank {rank} of {size} waited {waited:?} for {what}, and no longer: another process died, does something else, or is late. \
         `Options::timeout` allows more time"
    )]
    TimedOut {
        /// What was waited for.
        what: String,
        /// The rank of this process.
        rank: usize,
        /// How many processes there are.
        size: usize,
        /// The timeout.
        waited: Duration,
    },

    /// An operation before failed.
    #[error("the communicator cannot be used any more, because something failed before: {reason}")]
    Failed {
        /// What failed.
        reason: String,
    },

    /// There is no process of this rank.
    #[error("there is no rank {rank}: the communicator has {size}, counted from 0")]
    NoSuchRank {
        /// The rank that was asked for.
        rank: usize,
        /// How many there are.
        size: usize,
    },

    /// A slice has the wrong length.
    #[error("{what} has {found} elements, and needs {expected}")]
    Length {
        /// Which.
        what: &'static str,
        /// How many elements it has.
        found: usize,
        /// How many it needs.
        expected: usize,
    },

    /// A message is longer or shorter than the slice that receives it.
    #[error(
        "the message from rank {from} to rank {to} has {sent} bytes, and the slice that receives it has {received}: they have to be as long"
    )]
    MessageLength {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// What is sent.
        sent: usize,
        /// What is received.
        received: usize,
    },

    /// The processes did different collectives.
    #[error(
        "the processes started different collectives: this one (rank {rank}) {this}, and others differ in {difference}"
    )]
    Mismatch {
        /// The rank of this process.
        rank: usize,
        /// What this process started.
        this: String,
        /// In what others differ.
        difference: &'static str,
    },

    /// A process sends itself something that it does not receive in the same group, or the other way round.
    #[error(
        "{what}, which is this process, has no partner: messages of a process to itself are sent and received in one group"
    )]
    NoPartner {
        /// The operation.
        what: String,
    },

    /// A slice is too long for one call of MPI.
    #[error(
        "{what} of {bytes} bytes is too much for one call of MPI, which counts to {allowed}: move it in parts"
    )]
    TooLarge {
        /// Which operation.
        what: String,
        /// The bytes.
        bytes: usize,
        /// The most.
        allowed: usize,
    },

    /// NCCL is not there.
    #[error(
        "collectives between GPUs need NCCL, and it cannot be loaded: {reason}. `cargo gpukernel setup --nccl` fetches it, GPUKERNEL_NCCL names its \
         file, and `Options::through_host` does without"
    )]
    NoNccl {
        /// What was tried.
        reason: String,
    },

    /// NCCL is not there for another process.
    #[error("NCCL cannot be used by another process, whose error says why")]
    NoNcclElsewhere,

    /// NCCL reported an error.
    #[error("{call} failed: {message}")]
    Nccl {
        /// The function.
        call: &'static str,
        /// What NCCL says to that.
        message: String,
    },

    /// Some processes have a GPU, and others have not.
    #[error(
        "this process (rank {rank}) moves elements by {this:?}, and others do not: all of a communicator have GPUs, or none"
    )]
    Mixed {
        /// The rank of this process.
        rank: usize,
        /// What moves its elements.
        this: crate::Via,
    },
}

/// A result with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
