//! The device rustc: probing a rustc for its version, LLVM and `core` for the device.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

use semver::Version;

use super::{Memo, Refusal, Source, cache::visible_entries, libllvm::LibLlvm, recalled};

/// The target triple that kernels are compiled for.
pub const DEVICE_TARGET: &str = "nvptx64-nvidia-cuda";

/// The oldest supported rustc: the first that marks every device function and call `convergent`. With earlier ones, LLVM may sink or
/// duplicate barriers and shuffles.
pub const MINIMUM_RUSTC: Version = Version::new(1, 96, 0);

/// The rustc that compiles kernel crates.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeviceRustc {
    /// The program to run (`RUSTC`).
    pub path: PathBuf,
    /// Its version.
    pub version: Version,
    /// The output of `rustc -vV`, which identifies this build of rustc.
    pub verbose_version: String,
    /// The commit that it was built from, if known.
    pub commit_hash: Option<String>,
    /// The host triple.
    pub host: String,
    /// The version of its LLVM.
    pub llvm_version: Version,
    /// Its own sysroot.
    pub default_sysroot: PathBuf,
    /// The sysroot to pass by `--sysroot` when compiling for the device, because `core` was built there;
    /// `None` if its own sysroot has `core` for the device.
    pub sysroot: Option<PathBuf>,
    /// Its LLVM as a shared library.
    pub libllvm: LibLlvm,
    /// Its origin: the rule that found it.
    pub source: Source,
}

impl DeviceRustc {
    /// Where the standard library's source is if it is there.
    pub(crate) fn library_source(&self) -> PathBuf {
        library_source(&self.default_sysroot)
    }
}

/// What a rustc says about itself and what lies beside it.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    pub(crate) path: PathBuf,
    pub(crate) version: Version,
    pub(crate) verbose_version: String,
    pub(crate) commit_hash: Option<String>,
    pub(crate) host: String,
    pub(crate) llvm_version: Version,
    pub(crate) sysroot: PathBuf,
    pub(crate) libllvm: LibLlvm,
    pub(crate) core: Core,
}

/// Where `core` for the device comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Core {
    /// rustc's own sysroot has it.
    Prebuilt,
    /// It can be built from the `library` folder of the standard library's source.
    Source(PathBuf),
    /// Neither.
    Missing,
}

impl Probe {
    /// Asks this rustc, started in `dir`: rustup's proxies choose by it.
    ///
    /// # Errors
    /// It is no rustc, is too old, or its LLVM is missing. A missing `core` is no error here, because the
    /// rules look for a better candidate first.
    #[cfg(any(test, feature = "setup"))]
    pub(crate) fn run(path: &Path, dir: &Path) -> Result<Self, Refusal> {
        Self::recall(path, dir, None)
    }

    /// As `run`, with what the memo has of it.
    pub(crate) fn recall(path: &Path, dir: &Path, memo: Option<&Memo>) -> Result<Self, Refusal> {
        let verbose_version = recalled(memo, Command::new(path).arg("-vV").current_dir(dir), "rustc -vV")?;
        let field = |name: &'static str| field(&verbose_version, name);
        let version = field("release: ")
            .and_then(|text| Version::parse(text).ok())
            .ok_or_else(|| not_rustc("release: VERSION", &verbose_version))?;
        if !is_recent_enough(&version) {
            return Err(Refusal::TooOld { version });
        }
        let llvm_version = field("LLVM version: ")
            .and_then(lenient_version)
            .ok_or_else(|| not_rustc("LLVM version: VERSION", &verbose_version))?;
        let host = field("host: ").ok_or_else(|| not_rustc("host: TRIPLE", &verbose_version))?.to_owned();
        let commit_hash = field("commit-hash: ").filter(|hash| *hash != "unknown").map(str::to_owned);
        let sysroot = recalled(
            memo,
            Command::new(path).args(["--print", "sysroot"]).current_dir(dir),
            "rustc --print sysroot",
        )?;
        let sysroot = PathBuf::from(sysroot);
        let path = behind_proxy(path, &sysroot);
        let libllvm = LibLlvm::beside(&path, &sysroot, &host, &version, &llvm_version)?;
        let core = Core::of(&sysroot);
        Ok(Self { path, version, commit_hash, host, llvm_version, libllvm, core, sysroot, verbose_version })
    }

    /// Whether it is a release or a beta, which are preferred to nightlies.
    pub(crate) fn is_stable_quality(&self) -> bool {
        !self.version.pre.as_str().starts_with("nightly") && !self.version.pre.as_str().starts_with("dev")
    }

    pub(crate) fn no_core(&self) -> Refusal {
        Refusal::NoCore { version: self.version.clone(), sysroot: self.sysroot.clone() }
    }

    /// The device rustc, with `core` built in `sysroot` where its own has none.
    pub(crate) fn into_device_rustc(self, sysroot: Option<PathBuf>, source: Source) -> DeviceRustc {
        DeviceRustc {
            path: self.path,
            version: self.version,
            verbose_version: self.verbose_version,
            commit_hash: self.commit_hash,
            host: self.host,
            llvm_version: self.llvm_version,
            default_sysroot: self.sysroot,
            sysroot,
            libllvm: self.libllvm,
            source,
        }
    }
}

impl Core {
    fn of(sysroot: &Path) -> Self {
        if has_core(sysroot) {
            return Self::Prebuilt;
        }
        let library = library_source(sysroot);
        // The workspace manifest and lock file are read by the build as well.
        let is_source = ["Cargo.toml", "Cargo.lock", "core/Cargo.toml", "std/Cargo.toml"]
            .iter()
            .all(|file| library.join(file).is_file());
        if is_source { Self::Source(library) } else { Self::Missing }
    }
}

/// Where the standard library's source is if it is there: distributions have a link in its usual place, and rustc names files by what it leads to.
fn library_source(sysroot: &Path) -> PathBuf {
    let library = sysroot.join("lib").join("rustlib").join("src").join("rust").join("library");
    library.canonicalize().unwrap_or(library)
}

/// Whether this sysroot has `core` for the device, and the crates that come with it.
pub(crate) fn has_core(sysroot: &Path) -> bool {
    let lib = sysroot.join("lib").join("rustlib").join(DEVICE_TARGET).join("lib");
    let files: Vec<_> = visible_entries(&lib);
    ["libcore-", "liballoc-", "libcompiler_builtins-"].iter().all(|start| {
        files.iter().any(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(start) && name.ends_with(".rlib")
        })
    })
}

/// Nightlies carry the number of the release they lead to, so those of 1.96 may lack what 1.96.0 has.
fn is_recent_enough(version: &Version) -> bool {
    let release = (version.major, version.minor);
    let minimum = (MINIMUM_RUSTC.major, MINIMUM_RUSTC.minor);
    if version.pre.is_empty() || version.pre.as_str().starts_with("beta") {
        release >= minimum
    } else {
        release > minimum
    }
}

fn field<'t>(verbose_version: &'t str, name: &str) -> Option<&'t str> {
    verbose_version.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// LLVM's version, whose last number some builds leave out.
fn lenient_version(text: &str) -> Option<Version> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u64>);
    let major = numbers.next()?.ok()?;
    let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
    Some(Version::new(major, next(), next()))
}

fn not_rustc(missing: &'static str, output: &str) -> Refusal {
    let mut output = output.lines().next().unwrap_or("nothing").to_owned();
    if output.is_empty() {
        output = "nothing".to_owned();
    }
    Refusal::NotRustc { missing, output }
}

/// The rustc behind one of rustup's proxies, which would choose another one in another folder.
fn behind_proxy(path: &Path, sysroot: &Path) -> PathBuf {
    let is_proxy = path.canonicalize().is_ok_and(|target| target.file_stem() == Some(OsStr::new("rustup")));
    let rustc = sysroot.join("bin").join("rustc");
    if is_proxy && rustc.is_file() { rustc } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::FakeRustc, *};

    fn recent(text: &str) -> bool {
        is_recent_enough(&Version::parse(text).unwrap())
    }

    #[test]
    fn from_1_96_on_and_nightlies_one_later() {
        assert!(recent("1.96.0") && recent("1.96.0-beta.2") && recent("1.97.0-nightly") && recent("2.0.0"));
        assert!(!recent("1.95.1") && !recent("1.96.0-nightly") && !recent("1.95.0-beta.3"));
    }

    #[test]
    fn llvm_versions_of_two_and_three_numbers() {
        assert_eq!(lenient_version("22.1.8"), Some(Version::new(22, 1, 8)));
        assert_eq!(lenient_version("22.1"), Some(Version::new(22, 1, 0)));
        assert_eq!(lenient_version("none"), None);
    }

    #[test]
    fn everything_a_good_one_says_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let rustc = FakeRustc::new("1.96.0").core().install(dir.path());
        let probe = Probe::run(&rustc, dir.path()).unwrap();
        assert_eq!(probe.version, Version::new(1, 96, 0));
        assert_eq!(probe.llvm_version, Version::new(22, 1, 8));
        assert_eq!(probe.host, "x86_64-unknown-linux-gnu");
        assert_eq!(probe.core, Core::Prebuilt);
        assert!(probe.libllvm.path.ends_with("lib/libLLVM.so.22.1-rust-1.96.0-stable"));
        assert!(probe.commit_hash.is_some());
    }

    #[test]
    fn source_without_core() {
        let dir = tempfile::tempdir().unwrap();
        let rustc = FakeRustc::new("1.98.0").source().install(dir.path());
        let probe = Probe::run(&rustc, dir.path()).unwrap();
        assert!(
            matches!(probe.core, Core::Source(library) if library.ends_with("lib/rustlib/src/rust/library"))
        );
    }

    #[test]
    fn refusals_say_what_was_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let refusal = |rustc: &Path| Probe::run(rustc, dir.path()).unwrap_err().to_string();

        let old = FakeRustc::new("1.95.0").core().install(&dir.path().join("old"));
        assert_eq!(refusal(&old), "rustc 1.95.0 is too old: kernels need 1.96.0 or later");

        let nightly = FakeRustc::new("1.96.0-nightly").core().install(&dir.path().join("nightly"));
        assert_eq!(
            refusal(&nightly),
            "rustc 1.96.0-nightly is too old: kernels need 1.96.0 or later (a nightly: 1.97 or later)"
        );

        let other = FakeRustc::script("echo gcc 12.2").install(&dir.path().join("other"));
        assert_eq!(
            refusal(&other),
            "`rustc -vV` did not print the line `release: VERSION`; it printed: gcc 12.2"
        );

        let broken = FakeRustc::script("echo cannot open librustc_driver.so >&2; exit 127");
        let broken = broken.install(&dir.path().join("broken"));
        assert_eq!(refusal(&broken), "`rustc -vV` failed: cannot open librustc_driver.so");

        assert_eq!(refusal(&dir.path().join("none")), "there is no such program");
    }
}
