//! What can go wrong between a kernel crate and its image.

use std::{fmt, path::PathBuf};

use crate::{
    assemble::AssembleError, compile::CompileError, device_link::DeviceLinkError, foreign::ForeignError,
    link::LinkError, llvm::LlvmError, lto::LtoError, toolchain::ToolchainError,
};

/// A build of kernels failed.
///
/// Prints the same with `{}` and `{:?}`: what a `main` returns is printed with the latter, and a build script's message should
/// be readable.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No device toolchain.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The crate does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Linking or optimising failed.
    #[error(transparent)]
    CudaSources(#[from] LinkError),
    /// Functions in CUDA C or C++ cannot be linked.
    #[error(transparent)]
    Foreign(#[from] ForeignError),
    /// Kernels cannot be optimised together with LTO-IR.
    #[error(transparent)]
    Lto(#[from] LtoError),
    /// Linking machine code failed.
    #[error(transparent)]
    DeviceLink(#[from] DeviceLinkError),
    /// The library of functions compiled for the host cannot be made.
    #[error("cannot make a library of the functions of CUDA C that were compiled for the host: {0}")]
    HostLibrary(String),
    /// A tool does not make a file.
    #[error("{} cannot make {}:\n{message}", program.display(), file.display())]
    Tool {
        /// The tool.
        program: PathBuf,
        /// What it was to make.
        file: PathBuf,
        /// What it said.
        message: String,
    },
    /// The header of exported functions cannot be made.
    #[error("cannot make the header {}: {reason}", file.display())]
    Header {
        /// The header.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// ptxas failed.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// A setting of this crate is wrong.
    #[error("{0}")]
    Options(String),
    /// A variable that cargo sets for build scripts is missing.
    #[error(
        "the variable {0} is not set: this function is for build scripts, which cargo runs; elsewhere use `gpukernel_build::build`"
    )]
    NotABuildScript(&'static str),
    /// The kernel crate's build script builds kernels itself.
    #[error("{} is being built as a kernel crate, and its build script builds kernels again: a kernel crate needs no build.rs of this kind", .0.display())]
    Recursion(PathBuf),
    /// A file of ours cannot be written or read.
    #[error("cannot access {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
}

impl From<LlvmError> for Error {
    fn from(error: LlvmError) -> Self {
        Self::CudaSources(error.into())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
