//! Builds random kernels by the hundred thousand, and runs them on a machine that has a GPU and no Rust.
//!
//! - [`ptx`]: takes PTX apart, so that each program is a module of its own
//! - [`Batch`]: programs on their way to another machine, in a file
//! - [`make`] and [`run`]: the two halves of the long run

pub mod batch;
pub mod make;
pub mod ptx;
pub mod run;

pub use batch::Batch;

/// What can go wrong besides a program that computes something else.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{} is no batch of programs of this version: {reason}; build it again", path.display())]
    NotABatch {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        reason: String,
    },
    /// A program that was run ended otherwise than well.
    #[error("{program} failed ({reason}) for the seeds {}..{}", seeds.start, seeds.end)]
    Program {
        /// The program.
        program: String,
        /// Its status, or why it cannot be run.
        reason: String,
        /// What it was run for.
        seeds: std::ops::Range<u64>,
    },
    /// Kernels cannot be built.
    #[error(transparent)]
    Build(#[from] gpukernel_build::Error),
    /// The runtime refuses.
    #[error(transparent)]
    Runtime(#[from] gpukernel::Error),
    /// An image cannot be read.
    #[error(transparent)]
    Image(#[from] gpukernel_image::ImageError),
}

impl Error {
    fn file(path: impl Into<std::path::PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        |reason| Self::File { path, reason }
    }
}
