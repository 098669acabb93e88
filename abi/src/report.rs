//! What the runtime tells the subcommand about a run: a line of JSON for each [`Event`], appended to the file that [`VARIABLE`] names.
//!
//! The runtime is that of the program and the subcommand is installed by itself, so
//! readers skip events and fields that they do not know.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// The environment variable that names the file.
pub const VARIABLE: &str = "GPUKERNEL_REPORT";

/// The environment variable that names the thread which a debugger is to stop at: `KERNEL@BLOCK@THREAD`, such as `kernels::saxpy@3,0,0@7,0,0`.
pub const STOP_VARIABLE: &str = "GPUKERNEL_STOP";

/// The function that the CPU device calls when this thread is about to start.
pub const STOP_FUNCTION: &str = "gpukernel_stop";

/// Something that happened in a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A kernel is launched. Only the first of equal launches in a process is reported.
    Launch(Launch),
    /// A mistake was found in a kernel.
    Finding(Finding),
    /// The thread that [`STOP_VARIABLE`] names is about to start.
    Stop,
    /// One that this version does not know.
    #[serde(other)]
    Unknown,
}

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Launch {
    /// The path of the kernel, or the name of a foreign one.
    pub kernel: String,
    /// The device, such as `cpu`.
    pub device: String,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads per block along x, y and z.
    pub block: [u32; 3],
    /// Where the program launches it.
    pub launched_at: Place,
}

/// A mistake in a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of mistake it is.
    pub kind: FindingKind,
    /// The path of the kernel.
    pub kernel: String,
    /// The device, such as `cpu`.
    pub device: String,
    /// What is wrong, in one line.
    pub message: String,
    /// The threads that are part of it, the one that noticed it first.
    pub threads: Vec<Part>,
    /// What to do.
    pub help: Option<String>,
    /// Where the program launches the kernel, if known.
    pub launched_at: Option<Place>,
}

/// A kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Two accesses to memory that nothing orders.
    Race,
    /// Threads that wait for each other in different places, or for one that has ended.
    Barrier,
    /// A panic, such as an index that is out of bounds.
    Panic,
}

/// What a thread has to do with a mistake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its block in the grid.
    pub block: [u32; 3],
    /// Its place in the block.
    pub thread: [u32; 3],
    /// What it does: `writes it`.
    pub does: String,
    /// Where, if known.
    pub place: Option<Place>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The file, as rustc was given it.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1.
    pub column: u32,
}
