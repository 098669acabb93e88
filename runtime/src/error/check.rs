//! What the checks of the CPU device find, as errors tell it.

use std::{fmt, panic::Location};

use gpu_std::Dim3;

use super::text::place;

/// Two threads that use one element of memory, at least one of which writes it, with nothing that says who comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// Whether the element is in memory of the block, and not of the device.
    pub is_shared: bool,
    /// Its index.
    pub index: usize,
    /// The thread that came first this time.
    pub first: RaceSide,
    /// The other.
    pub second: RaceSide,
}

/// One of the threads of a [`Race`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceSide {
    /// The place of its block in the grid.
    pub block: Dim3,
    /// Its place in its block.
    pub thread: Dim3,
    /// Whether it writes.
    pub writes: bool,
    /// Where it does what it does, in the source.
    pub place: &'static Location<'static>,
}

/// A thread of the CPU device that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The thread's place in its block.
    pub thread: Dim3,
    /// The barrier of its block that it passed last.
    pub passed: Option<&'static Location<'static>>,
    /// The call of `exit_thread` that ended it; none if the kernel returned.
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
