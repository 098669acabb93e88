//! Errors of `setup`, with what to do by hand.

use std::path::PathBuf;

use thiserror::Error;

use super::Method;
use crate::toolchain::{MINIMUM_CLANG, MINIMUM_RUSTC, ToolchainError};

/// `setup` failed. Downloads are kept, so running it again resumes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The search, building `core`, or a file operation failed.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// No method of installing a device rustc worked.
    #[error("{}", no_way(.attempts))]
    NoWay {
        /// The methods that were tried.
        attempts: Vec<Attempt>,
    },
    /// clang could not be installed.
    #[error(
        "no clang could be obtained: {reason}\n\
         Install clang {MINIMUM_CLANG} to {newest} by hand; if it is not in PATH, set GPUKERNEL_CLANG to it."
    )]
    NoClang {
        /// The reason why the distribution's clang cannot be used.
        reason: String,
        /// The newest version whose bitcode the LLVM of the device rustc reads.
        newest: u64,
    },
    /// A host cannot be reached.
    #[error(
        "cannot download {url}: {reason}\n\
         Without a network: put {file} into {} and run `cargo gpukernel setup --offline`, which tells what else \
         is missing.", .directory.display()
    )]
    Unreachable {
        /// The requested address.
        url: String,
        /// The reason.
        reason: String,
        /// The file to download.
        file: String,
        /// The folder in which a copy of it would be used.
        directory: PathBuf,
    },
    /// Required files were not downloaded before, and downloads are disabled.
    #[error(
        "--offline forbids to download what is not in {}\n{}Get these files and put them there.",
        .directory.display(), list(.missing)
    )]
    Offline {
        /// The files.
        missing: Vec<MissingFile>,
        /// The folder that was searched.
        directory: PathBuf,
    },
    /// The hash of a file is wrong.
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
        /// The expected hash.
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
    /// NVIDIA publishes no tools for this processor architecture.
    #[error(
        "NVIDIA publishes no wheels of its tools for {architecture}; install the CUDA toolkit and set GPUKERNEL_CUDA"
    )]
    NoWheels {
        /// The processor architecture.
        architecture: String,
    },
    /// A downloaded file cannot be unpacked.
    #[error("cannot unpack {}: {message}", .file.display())]
    Unpack {
        /// The file.
        file: PathBuf,
        /// The reason.
        message: String,
    },
    /// The list of files to download is invalid, which its test should have found.
    #[error("pins.toml is broken: {message}; please report this")]
    Pins {
        /// The parser's message.
        message: String,
    },
    /// A name is not that of an installation method.
    #[error("there is no method `{name}`; it is auto, rustup or distribution")]
    UnknownMethod {
        /// The name.
        name: String,
    },
}

impl SetupError {
    /// Whether the only problem is that a file could not be downloaded.
    pub(super) fn is_for_want_of_network(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::NotInIndex { .. } | Self::NoWheels { .. })
    }
}

/// A file to download by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingFile {
    /// Its name.
    pub file: String,
    /// The page to download it from.
    pub origin: String,
}

fn list(missing: &[MissingFile]) -> String {
    missing.iter().map(|MissingFile { file, origin }| format!("  {file} from {origin}\n")).collect()
}

/// A failed method of installing a device rustc.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// The method.
    pub method: Method,
    /// The reason.
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
