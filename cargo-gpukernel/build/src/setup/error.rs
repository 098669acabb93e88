//! Errors: why `setup` could not finish, and what to do by hand.

use std::path::PathBuf;

use thiserror::Error;

use super::Method;
use crate::toolchain::{MINIMUM_CLANG, MINIMUM_RUSTC, ToolchainError};

/// Why `setup` could not finish. Whatever was fetched stays, so running it again goes on from there.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// Finding, building `core`, or a file operation failed.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// No way of getting a device rustc worked.
    #[error("{}", no_way(.attempts))]
    NoWay {
        /// The ways that were tried.
        attempts: Vec<Attempt>,
    },
    /// No clang could be obtained.
    #[error(
        "no clang could be obtained: {reason}\n\
         Install clang {MINIMUM_CLANG} to {newest} by hand; if it is not in PATH, set GPUKERNEL_CLANG to it."
    )]
    NoClang {
        /// Why the distribution's cannot be had.
        reason: String,
        /// The newest version that the LLVM of the device rustc reads the bitcode of.
        newest: u64,
    },
    /// A host cannot be reached.
    #[error(
        "cannot download {url}: {reason}\n\
         Without a network: put {file} into {} and run `cargo gpukernel setup --offline`, which tells what else \
         is missing.", .directory.display()
    )]
    Unreachable {
        /// What was asked for.
        url: String,
        /// What went wrong.
        reason: String,
        /// The file that is wanted.
        file: String,
        /// Where a copy of it would be used.
        directory: PathBuf,
    },
    /// Files are needed that were not fetched before, and there is to be no download.
    #[error(
        "--offline forbids to download what is not in {}\n{}Get these files and put them there.",
        .directory.display(), list(.missing)
    )]
    Offline {
        /// The files.
        missing: Vec<MissingFile>,
        /// Where they were looked for.
        directory: PathBuf,
    },
    /// A file is not what it should be.
    #[error(
        "{} is not the file that was expected (SHA-256 {found}, expected {expected}); it is not used. \
         Delete it and run `cargo gpukernel setup` again; if this repeats, the server or a proxy alters it.",
        .file.display()
    )]
    HashMismatch {
        /// The file.
        file: PathBuf,
        /// Its hash, in hexadecimal.
        found: String,
        /// The hash it should have.
        expected: String,
    },
    /// A package index does not have a file.
    #[error("the package index has no {file} at {url}; set PIP_INDEX_URL to one that mirrors PyPI")]
    NotInIndex {
        /// The file.
        file: String,
        /// The page of the index.
        url: String,
    },
    /// NVIDIA publishes no tools for this machine.
    #[error(
        "NVIDIA publishes no wheels of its tools for {architecture}; install the CUDA toolkit and set GPUKERNEL_CUDA"
    )]
    NoWheels {
        /// The processor architecture.
        architecture: String,
    },
    /// A fetched file cannot be unpacked.
    #[error("cannot unpack {}: {message}", .file.display())]
    Unpack {
        /// The file.
        file: PathBuf,
        /// Why not.
        message: String,
    },
    /// The list of what to fetch is broken, which its test should have found.
    #[error("pins.toml is broken: {message}; please report this")]
    Pins {
        /// The parser's message.
        message: String,
    },
    /// A way of getting a toolchain has a name that does not exist.
    #[error("there is no method `{name}`; it is auto, rustup or distribution")]
    UnknownMethod {
        /// The name.
        name: String,
    },
}

impl SetupError {
    /// Whether a file could not be had, and nothing else is wrong.
    pub(super) fn is_for_want_of_network(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::NotInIndex { .. } | Self::NoWheels { .. })
    }
}

/// A file that is to be fetched by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingFile {
    /// Its name.
    pub file: String,
    /// The page where it can be had.
    pub origin: String,
}

fn list(missing: &[MissingFile]) -> String {
    missing.iter().map(|MissingFile { file, origin }| format!("  {file} from {origin}\n")).collect()
}

/// A way of getting a device rustc that did not work.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// The way.
    pub method: Method,
    /// Why not.
    pub reason: String,
}

fn no_way(attempts: &[Attempt]) -> String {
    let mut text = String::from("no device rustc could be obtained\n");
    for Attempt { method, reason } in attempts {
        text.push_str(&format!("  {method}: {}\n", reason.replace('\n', "\n    ")));
    }
    text.push_str(&format!(
        "Install one by hand: any rustc {MINIMUM_RUSTC} or later with its standard library's source, such as\n  \
         rustup toolchain install stable --component rust-src\n  \
         apt-get install rustc-web rust-web-src        (Debian 12)\n\
         and, if gpukernel does not find it, set GPUKERNEL_RUSTC to it. `cargo gpukernel doctor` shows what is seen."
    ));
    text
}
