//! Waiting threads in errors.

use std::panic::Location;

use gpu_std::Dim3;

/// A thread of the CPU device that waits for others, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWait {
    /// The index of the thread in its block.
    pub thread: Dim3,
    /// The operation that it waits in.
    pub operation: &'static str,
    /// The mask of the lanes that it waits for, if it is a warp operation.
    pub lanes: Option<u32>,
    /// The source location of the operation.
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
