//! Installs missing parts of the toolchain, without root, in the user's cache: a device rustc, tools of the CUDA toolkit, and `core` for
//! the device. See [`Cache`] for its layout.
//!
//! Input: the options of a search and the installation method. Output: a complete [`Toolchain`]. Downloads are kept, so an interrupted
//! set-up is resumed; concurrent ones wait for each other.

mod apt;
mod child;
mod clang;
mod distribution;
mod download;
mod error;
mod index;
mod packages;
mod pins;
mod place;
mod rustup;
#[cfg(test)]
mod testing;
mod wheels;

use std::{fmt, str::FromStr};

pub use self::error::{Attempt, MissingFile, SetupError};
use crate::toolchain::{
    Cache, Clang, CudaPart, CudaTools, FindOptions, Need, Settings, Toolchain, ToolchainError, choose,
};

/// The method of installing a device rustc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Method {
    /// rustup, else the distribution.
    #[default]
    Auto,
    /// rustup, with a separate `RUSTUP_HOME` in the cache.
    Rustup,
    /// The distribution's packages, unpacked into the cache.
    Distribution,
}

impl Method {
    /// The name on the command line and in `GPUKERNEL_SETUP_METHOD`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Rustup => "rustup",
            Self::Distribution => "distribution",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = SetupError;

    fn from_str(name: &str) -> Result<Self, SetupError> {
        match name {
            "auto" => Ok(Self::Auto),
            "rustup" => Ok(Self::Rustup),
            "distribution" => Ok(Self::Distribution),
            name => Err(SetupError::UnknownMethod { name: name.to_owned() }),
        }
    }
}

/// Options of [`setup`].
#[derive(Clone)]
pub struct SetupOptions<'a> {
    find: FindOptions<'a>,
    method: Option<Method>,
    offline: bool,
    force: bool,
    clang: bool,
    nccl: bool,
}

impl<'a> SetupOptions<'a> {
    /// Installs whatever `Toolchain::find` with these options lacks; reports progress to their callback.
    pub fn new(find: FindOptions<'a>) -> Self {
        // As cargo reads its configuration.
        let offline = find.environment.get("CARGO_NET_OFFLINE").is_some_and(|value| value == "true");
        Self { find, method: None, offline, force: false, clang: false, nccl: false }
    }

    /// Sets the installation method, overriding `GPUKERNEL_SETUP_METHOD`.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// Uses only files downloaded before or put into the cache's `downloads` by hand, by default if `CARGO_NET_OFFLINE` is `true`.
    #[must_use]
    pub fn offline(mut self, offline: bool) -> Self {
        self.offline = offline;
        self
    }

    /// Downloads and unpacks everything again.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// Also installs clang, for CUDA C functions that are inlined, even if the project's settings do not ask for it.
    #[must_use]
    pub fn clang(mut self, clang: bool) -> Self {
        self.clang = clang;
        self
    }

    /// Also installs NCCL, which moves elements between GPUs of several processes.
    #[must_use]
    pub fn nccl(mut self, nccl: bool) -> Self {
        self.nccl = nccl;
        self
    }

    fn ways(&self) -> Result<&'static [Method], SetupError> {
        let named = self.find.environment.get("GPUKERNEL_SETUP_METHOD").map(|name| name.to_string_lossy());
        let method = match (self.method, named) {
            (Some(method), _) => method,
            (None, Some(name)) => name.parse()?,
            (None, None) => Method::Auto,
        };
        Ok(match method {
            Method::Auto => &[Method::Rustup, Method::Distribution],
            Method::Rustup => &[Method::Rustup],
            Method::Distribution => &[Method::Distribution],
        })
    }
}

/// Installs the missing parts of the toolchain.
///
/// # Errors
/// A setting names a toolchain that does not qualify, no method of installing a device rustc works, a file cannot be downloaded or has
/// the wrong hash, or building `core` fails.
///
/// ```no_run
/// use gpukernel_build::{setup::{SetupOptions, setup}, toolchain::FindOptions};
///
/// let toolchain = setup(&SetupOptions::new(FindOptions::new(".")))?;
/// println!("kernels are compiled with {}", toolchain.rustc.path.display());
/// # Ok::<(), gpukernel_build::setup::SetupError>(())
/// ```
pub fn setup(options: &SetupOptions<'_>) -> Result<Toolchain, SetupError> {
    let cache = Cache::locate(&options.find.environment)?;
    {
        let _lock = cache.lock("setup", &options.find.progress)?;
        if options.force || lacks_rustc(options)? {
            obtain_rustc(options, &cache)?;
        }
        if options.force || lacks_tools(options)? {
            wheels::install_tools(options, &cache)?;
        }
        if options.nccl {
            wheels::install_nccl(options, &cache)?;
        }
        let newest = choose(&options.find)?.probe.llvm_version.major;
        let wanted = options.clang || wants_clang(&options.find)?;
        if wanted && (options.force || Clang::find(&options.find, newest)?.is_none()) {
            clang::install(options, &cache, newest)
                .map_err(|reason| SetupError::NoClang { reason, newest })?;
        }
    }
    Ok(Toolchain::find(&options.find)?)
}

/// Finds the toolchain, or installs it and reports that.
///
/// Uses no network if `CARGO_NET_OFFLINE` is `true`. The tools of the CUDA toolkit are installed with it. If only those cannot be downloaded, the result is a toolchain without them.
///
/// # Errors
/// As [`setup`].
pub fn ensure(find: &FindOptions<'_>) -> Result<Toolchain, SetupError> {
    let found = match Toolchain::find(find) {
        Ok(toolchain) => Some(toolchain),
        Err(ToolchainError::NoDeviceRustc { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let needed = [CudaPart::Ptxas, CudaPart::Libdevice];
    match found {
        Some(ref toolchain)
            if needed.iter().all(|part| toolchain.cuda.get(*part).is_some())
                && (toolchain.clang.is_some() || !wants_clang(find)?) =>
        {
            return Ok(toolchain.clone());
        }
        _ => {}
    }
    find.progress.note("setting up what is missing to build kernels; `cargo gpukernel setup` does the same");
    match (setup(&SetupOptions::new(find.clone())), found) {
        (Err(error), Some(toolchain)) if error.is_for_want_of_network() => {
            find.progress.note(&format!("going on without NVIDIA's tools: {error}"));
            Ok(toolchain)
        }
        // Whatever needs it says so.
        (Err(error @ SetupError::NoClang { .. }), _) => {
            find.progress.note(&format!("going on without clang: {error}"));
            Ok(Toolchain::find(find)?)
        }
        (result, _) => result,
    }
}

/// Whether there is no device rustc. A rustc named by a setting that does not qualify is an error: no other is used in its place.
fn lacks_rustc(options: &SetupOptions<'_>) -> Result<bool, SetupError> {
    match choose(&options.find) {
        Ok(_) => Ok(false),
        Err(ToolchainError::NoDeviceRustc { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Whether the project's settings ask for clang.
fn wants_clang(find: &FindOptions<'_>) -> Result<bool, SetupError> {
    Ok(Settings::load(&find.project_dir)?.needs.contains(&Need::Clang))
}

fn lacks_tools(options: &SetupOptions<'_>) -> Result<bool, SetupError> {
    Ok(CudaTools::find(&options.find)?.missing().next().is_some())
}

fn obtain_rustc(options: &SetupOptions<'_>, cache: &Cache) -> Result<(), SetupError> {
    let progress = &options.find.progress;
    let ways = options.ways()?;
    let mut attempts = Vec::new();
    for (index, &method) in ways.iter().enumerate() {
        let result = match method {
            Method::Distribution => distribution::install(options, cache),
            Method::Auto | Method::Rustup => rustup::install(options, cache),
        };
        match result {
            Ok(()) => return Ok(()),
            Err(reason) => {
                if let Some(next) = ways.get(index + 1) {
                    progress.note(&format!("no Rust through {method} ({reason}); trying {next}"));
                }
                attempts.push(Attempt { method, reason });
            }
        }
    }
    Err(SetupError::NoWay { attempts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::{Environment, testing::FakeRustc};

    #[test]
    fn methods_by_name() {
        for method in [Method::Auto, Method::Rustup, Method::Distribution] {
            assert_eq!(method.to_string().parse::<Method>().unwrap(), method);
        }
        assert!("snap".parse::<Method>().unwrap_err().to_string().contains("auto, rustup or distribution"));
    }

    #[test]
    fn where_no_way_works_the_error_says_what_to_install_by_hand() {
        let dir = tempfile::tempdir().unwrap();
        let environment = Environment::default().with("HOME", dir.path());
        let options = SetupOptions::new(FindOptions::new(dir.path()).environment(environment)).offline(true);
        let error = setup(&options.method(Method::Rustup)).unwrap_err().to_string();
        assert_eq!(
            error,
            "no device rustc could be obtained\n  \
             rustup: rustup is not installed\n\
             Install one by hand: any rustc 1.96.0 or later with its standard library's source, such as\n  \
             rustup toolchain install stable --component rust-src\n  \
             apt-get install rustc-web rust-web-src        (Debian 12)\n\
             and, if gpukernel does not find it, set GPUKERNEL_RUSTC to it. `cargo gpukernel doctor` shows what is seen."
        );
    }

    #[test]
    fn a_setting_is_not_worked_around() {
        let dir = tempfile::tempdir().unwrap();
        let old = FakeRustc::new("1.90.0").install(dir.path());
        let environment = Environment::default().with("HOME", dir.path()).with("GPUKERNEL_RUSTC", &old);
        let find = FindOptions::new(dir.path()).environment(environment);
        let error = ensure(&find).unwrap_err();
        assert!(matches!(error, SetupError::Toolchain(ToolchainError::SettingRefused { .. })), "{error}");
    }

    #[test]
    fn what_is_there_is_not_fetched() {
        let dir = tempfile::tempdir().unwrap();
        let rustc = FakeRustc::new("1.96.0").core().install(&dir.path().join("rust"));
        let cuda = dir.path().join("cuda");
        for name in ["bin/ptxas", "nvvm/libdevice/libdevice.10.bc"] {
            crate::toolchain::testing::program(&cuda.join(name), "echo 'release 13.0, V13.0.88'");
        }
        let environment = Environment::default()
            .with("HOME", dir.path())
            .with("GPUKERNEL_RUSTC", &rustc)
            .with("GPUKERNEL_CUDA", &cuda)
            .with("PIP_INDEX_URL", "http://127.0.0.1:1/simple");
        let toolchain = ensure(&FindOptions::new(dir.path()).environment(environment)).unwrap();
        assert_eq!(toolchain.rustc.path, rustc);
        // That this rustc lays out panics as they are read.
        let cache = std::fs::read_dir(dir.path().join(".cache/gpukernel")).unwrap();
        let mut found: Vec<_> = cache.map(|entry| entry.unwrap().file_name()).collect();
        found.sort();
        assert_eq!(found, ["layouts", "locks", "probes"], "nothing was set up");
    }

    #[test]
    fn without_a_network_only_nvidias_tools_are_missing() {
        let dir = tempfile::tempdir().unwrap();
        let rustc = FakeRustc::new("1.96.0").core().install(&dir.path().join("rust"));
        let environment = Environment::default()
            .with("HOME", dir.path())
            .with("GPUKERNEL_RUSTC", &rustc)
            .with("PIP_INDEX_URL", "http://127.0.0.1:1/simple");
        let said = std::sync::Mutex::new(String::new());
        let report = |event: crate::toolchain::Event<'_>| {
            if let crate::toolchain::Event::Note(line) = event {
                said.lock().unwrap().push_str(line);
            }
        };
        let find = FindOptions::new(dir.path()).environment(environment).progress(&report);
        let toolchain = ensure(&find).unwrap();
        assert!(toolchain.cuda.get(CudaPart::Ptxas).is_none());
        let said = said.lock().unwrap();
        assert!(said.contains("setting up") && said.contains("going on without NVIDIA's tools"), "{said}");
    }
}
