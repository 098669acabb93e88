//! Who waits where, as errors tell it.

use std::panic::Location;

use gpu_std::Dim3;

/// A thread of the CPU device that waits for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWait {
    /// The thread's place in its block.
    pub thread: Dim3,
    /// What it waits in.
    pub operation: &'static str,
    /// For which lanes of its warp, as bits, if it is an operation of a warp.
    pub lanes: Option<u32>,
    /// The operation's place in the source.
    pub place: &'static Location<'static>,
}

impl BarrierWait {
    pub(crate) fn operation(&self) -> String {
        match self.lanes {
            Some(lanes) => format!("{} of the lanes {lanes:#x} at {}", self.operation, self.place),
            None => format!("{} at {}", self.operation, self.place),
        }
    }
}
