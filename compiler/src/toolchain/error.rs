//! Errors of the search for a toolchain, with the reason for each candidate and what to do.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use semver::Version;
use thiserror::Error;

use super::{
    CudaPart, DeveloperTool, Source,
    rustc::{DEVICE_TARGET, MINIMUM_RUSTC},
};

/// A toolchain, or a part of it, was not found or cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolchainError {
    /// No rustc qualifies as the device rustc.
    #[error("{}", no_rustc(.refused))]
    NoDeviceRustc {
        /// The candidates and the reasons for refusing them, in the order in which they were tried.
        refused: Vec<Refused>,
    },
    /// The rustc named by a setting does not qualify.
    #[error(
        "the device rustc asked for by {setting} cannot be used\n  {path}: {refusal}\n\
         Change or remove that setting: without it gpukernel looks for one by itself.",
        path = .path.display()
    )]
    SettingRefused {
        /// The variable or file that names it.
        setting: String,
        /// The rustc.
        path: PathBuf,
        /// The reason.
        refusal: Box<Refusal>,
    },
    /// The folder named by a setting is not a CUDA toolkit.
    #[error("{setting} asks for the CUDA toolkit in {path}, but {problem}", path = .path.display())]
    NotAToolkit {
        /// The variable or file that names it.
        setting: String,
        /// The folder.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The clang named by a setting cannot be used.
    #[error("{setting} asks for the clang {path}, but {problem}", path = .path.display())]
    NotAClang {
        /// The variable or file that names it.
        setting: String,
        /// The program.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// A required tool of the CUDA toolkit is missing.
    #[error(
        "{part} is needed but was not found (searched GPUKERNEL_CUDA, gpukernel.toml, CUDA_HOME, CUDA_PATH, PATH, \
         /usr/local/cuda, /opt/cuda and gpukernel's cache)\n\
         Run `cargo gpukernel setup` to get it, or set GPUKERNEL_CUDA to a CUDA toolkit's folder."
    )]
    CudaPartMissing {
        /// The tool.
        part: CudaPart,
    },
    /// A tool for running programs is missing.
    #[error(
        "{tool} is needed but was not found (searched GPUKERNEL_CUDA, gpukernel.toml, CUDA_HOME, CUDA_PATH, PATH, /usr/local/cuda, \
         /opt/cuda and gpukernel's cache)\n\
         To get it, {}; `cargo gpukernel setup` does not install it. If it is elsewhere, add its folder to PATH, or set GPUKERNEL_CUDA to the \
         toolkit's folder.",
        .tool.install()
    )]
    DeveloperToolMissing {
        /// The tool.
        tool: DeveloperTool,
    },
    /// `gpukernel.toml` is invalid.
    #[error("{} cannot be understood: {}", .file.display(), .reason.to_string().trim_end())]
    Settings {
        /// The file.
        file: PathBuf,
        /// The parser's message.
        reason: Box<toml::de::Error>,
    },
    /// The rustc lays out values of its own in another way than gpukernel reads them.
    #[error(
        "rustc {version} at {path} lays out {what} in another way than gpukernel reads it, so panics of kernels could not be reported\n\
         Use another Rust, such as the one that `cargo gpukernel setup` installs, or a gpukernel that knows this one.",
        path = .rustc.display()
    )]
    OtherLayout {
        /// The rustc.
        rustc: PathBuf,
        /// Its version.
        version: Version,
        /// What is laid out in another way.
        what: String,
    },
    /// It could not be checked how the rustc lays out values of its own.
    #[error(
        "cannot check how {} lays out panics: a small program could not be compiled and run\n{message}\n\
         Programs need the standard library for the host and a C linker (Debian: `apt install gcc`).",
        .rustc.display()
    )]
    LayoutsNotChecked {
        /// The rustc.
        rustc: PathBuf,
        /// What rustc or the program said.
        message: String,
    },
    /// `core` could not be built from source.
    #[error(
        "building core for {DEVICE_TARGET} with {} from {} failed:\n{message}",
        .rustc.display(), .source_dir.display()
    )]
    CoreNotBuilt {
        /// The rustc.
        rustc: PathBuf,
        /// The standard library's source.
        source_dir: PathBuf,
        /// The output of cargo and rustc.
        message: String,
    },
    /// No folder for the cache: `HOME` is not set.
    #[error("there is no place for gpukernel's cache: HOME is not set; set GPUKERNEL_CACHE to a folder")]
    NoCacheDirectory,
    /// A file operation failed.
    #[error("cannot {action} {}: {reason}", .path.display())]
    Io {
        /// The operation, such as `create`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        reason: io::Error,
    },
}

impl ToolchainError {
    pub(crate) fn io(action: &'static str, path: &Path, reason: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), reason }
    }
}

/// A rustc that was refused.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Refused {
    /// The rustc.
    pub path: PathBuf,
    /// Its origin.
    pub source: Source,
    /// The reason.
    pub refusal: Refusal,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path.display(), self.source)?;
        write!(f, ": {}", self.refusal)
    }
}

/// The reason why a rustc does not qualify as the device rustc.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The program does not exist.
    #[error("there is no such program")]
    NotFound,
    /// It cannot be started.
    #[error("it cannot be started: {message}")]
    NotStarted {
        /// The operating system's message.
        message: String,
    },
    /// It failed.
    #[error("`{arguments}` failed: {message}")]
    Failed {
        /// The arguments.
        arguments: &'static str,
        /// Its output.
        message: String,
    },
    /// Its output is not that of a rustc.
    #[error("`rustc -vV` did not print the line `{missing}`; it printed: {output}")]
    NotRustc {
        /// The line that was expected.
        missing: &'static str,
        /// Its output, shortened.
        output: String,
    },
    /// It is too old: it does not mark device functions as convergent, so barriers could be moved.
    #[error("rustc {version} is too old: kernels need {MINIMUM_RUSTC} or later{hint}",
            hint = if .version.pre.is_empty() { "" } else { " (a nightly: 1.97 or later)" })]
    TooOld {
        /// Its version.
        version: Version,
    },
    /// It has no `core` for the device, and no source to build it from.
    #[error(
        "rustc {version} has neither core for {DEVICE_TARGET} nor the source to build it (component rust-src) in {}",
        .sysroot.display()
    )]
    NoCore {
        /// Its version.
        version: Version,
        /// The sysroot that was searched.
        sysroot: PathBuf,
    },
    /// Its LLVM cannot be loaded, because it is not a shared library beside it.
    #[error("libLLVM {major}, which rustc {version} was built with, is not beside it; searched {searched}{found}",
            found = found(.others))]
    NoLibLlvm {
        /// rustc's version.
        version: Version,
        /// The major version of LLVM that is needed.
        major: u64,
        /// The folders that were searched.
        searched: String,
        /// Libraries of other versions found there.
        others: Vec<PathBuf>,
    },
}

impl Refusal {
    /// The version of the refused rustc, if known.
    pub fn version(&self) -> Option<&Version> {
        match self {
            Self::TooOld { version } | Self::NoCore { version, .. } | Self::NoLibLlvm { version, .. } => {
                Some(version)
            }
            Self::NotFound | Self::NotStarted { .. } | Self::Failed { .. } | Self::NotRustc { .. } => None,
        }
    }
}

fn found(others: &[PathBuf]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let names: Vec<_> = others.iter().map(|path| path.display().to_string()).collect();
    format!("; found only {}", names.join(", "))
}

fn no_rustc(refused: &[Refused]) -> String {
    let mut text = format!(
        "no rustc on this machine can compile kernels: it takes rustc {MINIMUM_RUSTC} or later, with core for \
         {DEVICE_TARGET} or the component rust-src\n"
    );
    for candidate in refused {
        text.push_str(&format!("  {candidate}\n"));
    }
    if refused.is_empty() {
        text.push_str("  (no rustc was found at all)\n");
    }
    text.push_str("Run `cargo gpukernel setup` to get one; it touches no toolchain of yours.");
    text
}
