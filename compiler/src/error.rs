//! The error type of builds.

use std::{fmt, path::PathBuf};

use crate::{
    assemble::AssembleError,
    budgets::{self, OverBudget},
    compile::CompileError,
    dependency::DependencyError,
    device_link::DeviceLinkError,
    foreign::ForeignError,
    link::{LinkError, UnknownPass},
    llvm::LlvmError,
    toolchain::ToolchainError,
};

/// A build of kernels failed.
///
/// Prints the same with `{}` and `{:?}`, because the error that a build script's `main` returns is printed with the latter.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The toolchain was not found.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The kernel crate does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A dependency of the package cannot be compiled as a kernel crate.
    #[error(transparent)]
    Dependency(#[from] DependencyError),
    /// Linking or optimising failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// CUDA C or C++ files cannot be compiled or linked.
    #[error(transparent)]
    Foreign(#[from] ForeignError),
    /// Kernels cannot be translated to LTO-IR.
    #[cfg(feature = "lto")]
    #[error(transparent)]
    Lto(#[from] crate::LtoError),
    /// Linking machine code failed.
    #[error(transparent)]
    DeviceLink(#[from] DeviceLinkError),
    /// The library of CUDA C functions for the host cannot be created.
    #[error("cannot make a library of the functions of CUDA C that were compiled for the host: {0}")]
    HostLibrary(String),
    /// A tool failed to create a file.
    #[error("{} cannot make {}:\n{message}", program.display(), file.display())]
    Tool {
        /// The tool.
        program: PathBuf,
        /// The file.
        file: PathBuf,
        /// The tool's output.
        message: String,
    },
    /// The C header of exported functions cannot be generated.
    #[error("cannot make the header {}: {reason}", file.display())]
    Header {
        /// The header.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
    /// ptxas failed.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// Kernels exceed what their launch contracts or [`Budgets`](crate::Budgets) allow.
    #[error("{}", budgets::message(.0))]
    OverBudget(Vec<OverBudget>),
    /// There is no kernel of a name, or none that can be told from others.
    #[error("there is no kernel `{kernel}`: {}", kernels_are(known))]
    NoKernel {
        /// The name.
        kernel: String,
        /// The kernels that there are.
        known: Vec<String>,
    },
    /// An option is invalid.
    #[error("{0}")]
    Options(String),
    /// A part of gpukernel-build that the build needs is left out.
    #[error(
        "{needed_by} needs the feature `{feature}` of gpukernel-build: enable it in the `[build-dependencies]` of Cargo.toml, \
         `gpukernel-build = {{ …, features = [\"{feature}\"] }}`"
    )]
    FeatureOff {
        /// The feature.
        feature: &'static str,
        /// What needs it.
        needed_by: String,
    },
    /// [`Options::emit_after`](crate::Options::emit_after) names a pass that does not exist.
    #[error(transparent)]
    UnknownPass(#[from] UnknownPass),
    /// A variable that cargo sets for build scripts is missing.
    #[error(
        "the variable {0} is not set: this function is for build scripts, which cargo runs; elsewhere use `gpukernel_build::build`"
    )]
    NotABuildScript(&'static str),
    /// The build script of a kernel crate builds kernels.
    #[error("{} is being built as a kernel crate, and its build script builds kernels again: a kernel crate needs no build.rs of this kind", .0.display())]
    Recursion(PathBuf),
    /// A file cannot be written or read.
    #[error("cannot access {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: std::io::Error,
    },
}

fn kernels_are(known: &[String]) -> String {
    match known {
        [] => "there are no kernels".to_owned(),
        [only] => format!("the only one is {only}"),
        _ => format!("the kernels are {}", known.join(", ")),
    }
}

impl Error {
    /// [`Emit::Header`](crate::Emit::Header) without the feature.
    pub(crate) fn header_is_off() -> Self {
        Self::FeatureOff { feature: "header", needed_by: "`Emit::Header`".to_owned() }
    }
}

impl From<LlvmError> for Error {
    fn from(error: LlvmError) -> Self {
        Self::Link(error.into())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
