//! Findings of the CPU device's checks (`GPUKERNEL_CHECK=1`).

use std::{fmt, panic::Location};

use gpu_std::Dim3;

use super::text::place;

/// A data race: two unordered accesses of an element of memory by different threads, at least one of them a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// Whether the element is in shared memory, not in device memory.
    pub is_shared: bool,
    /// The index of the element.
    pub index: usize,
    /// The access that came first in this run.
    pub first: RaceSide,
    /// The other access.
    pub second: RaceSide,
}

/// One of the accesses of a [`Race`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceSide {
    /// The index of the thread's block in the grid.
    pub block: Dim3,
    /// The index of the thread in its block.
    pub thread: Dim3,
    /// Whether it is a write.
    pub writes: bool,
    /// The source location of the access.
    pub place: &'static Location<'static>,
}

/// A thread of the CPU device that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The index of the thread in its block.
    pub thread: Dim3,
    /// The last barrier of its block that it passed.
    pub passed: Option<&'static Location<'static>>,
    /// The call of `exit_thread` that ended it; `None` if the kernel returned.
    pub exit: Option<&'static Location<'static>>,
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_shared, index, first, second } = self;
        let memory = if *is_shared { "a shared array" } else { "a slice" };
        let between = if first.block == second.block {
            "barrier"
        } else {
            "barrier of both blocks, or release and acquire,"
        };
        write!(
            f,
            "a data race on element {index} of {memory}: {first}, and {second}; no {between} is between"
        )
    }
}

impl fmt::Display for RaceSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block, thread, writes, place: source } = self;
        let does = if *writes { "writes" } else { "reads" };
        write!(f, "thread {} of block {} {does} it at {source}", place(thread), place(block))
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, passed, exit } = self;
        write!(f, "thread {} has ended, ", place(thread))?;
        match exit {
            Some(exit) => write!(f, "by `exit_thread` at {exit}, ")?,
            None => write!(f, "by returning from the kernel, ")?,
        }
        match passed {
            Some(barrier) => write!(f, "after the barrier at {barrier}"),
            None => write!(f, "before any barrier"),
        }
    }
}
