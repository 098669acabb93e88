//! Finds the toolchain of kernels: the device rustc with its `core` and LLVM, and the tools of the CUDA toolkit.
//!
//! Input: the environment, `gpukernel.toml` and the installed tools. Output: a [`Toolchain`], or an error that names every candidate
//! and the reason for refusing it. Nothing is downloaded here: that is done by `setup`.

mod cache;
mod candidates;
mod clang;
mod cuda;
mod developer_tool;
mod driver;
mod environment;
mod error;
mod layouts;
mod libllvm;
mod memo;
mod nccl;
mod process;
mod progress;
mod report;
mod resolve;
mod rustc;
mod settings;
mod sysroot;
#[cfg(test)]
pub(crate) mod testing;

use std::path::{Path, PathBuf};

pub(crate) use self::memo::{Memo, recalled};

#[cfg(feature = "setup")]
pub(crate) use self::{
    cache::visible_entries,
    clang::MINIMUM_CLANG,
    libllvm::Manifest,
    process::output_of,
    resolve::choose,
    rustc::{Core, Probe},
};
pub use self::{
    cache::{Cache, CacheLock},
    clang::Clang,
    cuda::{CudaPart, CudaSource, CudaTool, CudaTools, RefusedToolkit},
    developer_tool::DeveloperTool,
    driver::{Driver, Gpu},
    environment::Environment,
    error::{Refusal, Refused, ToolchainError},
    libllvm::LibLlvm,
    nccl::Nccl,
    progress::{Event, Progress},
    report::{Part, PartStatus, Report},
    resolve::Source,
    rustc::{DEVICE_TARGET, DeviceRustc, MINIMUM_RUSTC},
    settings::{Need, Settings},
};

/// The tools that kernels are compiled with.
///
/// ```no_run
/// use gpukernel_build::toolchain::{FindOptions, Toolchain};
///
/// let toolchain = Toolchain::find(&FindOptions::new("."))?;
/// println!("device rustc {} at {}", toolchain.rustc.version, toolchain.rustc.path.display());
/// # Ok::<(), gpukernel_build::toolchain::ToolchainError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Toolchain {
    /// The rustc that compiles kernel crates.
    pub rustc: DeviceRustc,
    /// The tools of the CUDA toolkit. Each may be missing: use [`CudaTools::require`].
    pub cuda: CudaTools,
    /// clang, for CUDA C++ to bitcode, if a suitable version was found.
    pub clang: Option<Clang>,
}

impl Toolchain {
    /// Finds the device rustc, by the first rule that matches, and the tools of the CUDA toolkit:
    ///
    /// 1. `GPUKERNEL_RUSTC`, then `rustc = "…"` in `gpukernel.toml`;
    /// 2. the active rustc (`RUSTC`, else the one in `PATH`), if it has `core` for the device;
    /// 3. any toolchain of rustup with `core` for the device;
    /// 4. any rustc with the component `rust-src`, from which `core`, `alloc` and `compiler_builtins` are
    ///    built once into the cache (about 20 s);
    /// 5. the toolchain that `cargo gpukernel setup` has installed in the cache.
    ///
    /// Among toolchains of one rule, stable ones come before nightlies and newer ones before older ones. When a rustc is found for the first time,
    /// a program that it compiles checks that it lays out panics as the runtime reads them (half a second).
    ///
    /// # Errors
    /// No candidate qualifies, a tool named by a setting does not qualify, or building `core` fails, or the
    /// rustc lays out panics in another way.
    pub fn find(options: &FindOptions<'_>) -> Result<Self, ToolchainError> {
        let options = &FindOptions { memo: Memo::of(&options.environment), ..options.clone() };
        let rustc = resolve::find(options)?;
        layouts::ensure(&rustc, options)?;
        let clang = Clang::find(options, rustc.llvm_version.major)?;
        Ok(Self { rustc, cuda: CudaTools::find(options)?, clang })
    }
}

/// Options of the search: project folder, environment variables, progress callback.
#[derive(Clone)]
pub struct FindOptions<'a> {
    pub(crate) project_dir: PathBuf,
    pub(crate) environment: Environment,
    pub(crate) progress: Progress<'a>,
    /// What programs said before; none for those who want to know what is true now.
    pub(crate) memo: Option<Memo>,
}

impl<'a> FindOptions<'a> {
    /// Options for the project in this folder: `gpukernel.toml` is searched there and in the folders above. With the environment of this
    /// process, and without progress reports.
    pub fn new(project_dir: impl AsRef<Path>) -> Self {
        Self {
            project_dir: project_dir.as_ref().to_owned(),
            environment: Environment::process(),
            progress: Progress::silent(),
            memo: None,
        }
    }

    /// Sets the callback for progress of long operations (building `core`, waiting for another process that does).
    #[must_use]
    pub fn progress(mut self, report: &'a (dyn Fn(Event<'_>) + Sync)) -> Self {
        self.progress = Progress::to(report);
        self
    }

    /// Sets the environment variables, in place of those of the process.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }
}
