//! Sysroot: `core`, `alloc` and `compiler_builtins` for the device, built from their source once per rustc.
//!
//! `RUSTC_BOOTSTRAP=1` is set for this build alone: the standard library is always built with it, and
//! nothing that users compile is.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

use rustc_build_sysroot::{BuildMode, SysrootBuilder, SysrootConfig};
use rustc_version::VersionMeta;
use sha2::{Digest, Sha256};

use super::{
    Cache, FindOptions, ToolchainError,
    libllvm::driver_libraries,
    rustc::{DEVICE_TARGET, Probe, has_core},
};

/// No debug info: any of it would make the PTX `.target …, debug`, and ptxas would then optimise nothing.
const FLAGS: [&str; 2] = ["-Copt-level=3", "-Cdebuginfo=0"];

/// Raised when the way of building changes, so that older results are not taken for new ones.
const RECIPE: &str = "1";

/// The sysroot with `core` for this rustc, built now if it is not in the cache.
pub(super) fn ensure(
    probe: &Probe,
    library: &Path,
    cache: &Cache,
    options: &FindOptions<'_>,
) -> Result<PathBuf, ToolchainError> {
    let name = format!("{}-{}", probe.version, key(probe));
    let parent = cache.dir("sysroots");
    let sysroot = parent.join(&name);
    if has_core(&sysroot) {
        return Ok(sysroot);
    }
    let _lock = cache.lock(&format!("sysroot-{name}"), &options.progress)?;
    if has_core(&sysroot) {
        return Ok(sysroot);
    }
    cache.make_dir("sysroots")?;
    let unfinished = parent.join(format!(".tmp-{name}"));
    // Under the lock, whatever is there was left by interrupted work.
    for leftover in [&unfinished, &sysroot] {
        if leftover.exists() {
            std::fs::remove_dir_all(leftover).map_err(|e| ToolchainError::io("remove", leftover, e))?;
        }
    }
    std::fs::create_dir(&unfinished).map_err(|e| ToolchainError::io("create", &unfinished, e))?;
    let what = format!("building core for {DEVICE_TARGET} with rustc {} (once)", probe.version);
    options.progress.step(&what, None, || build(probe, library, &unfinished, cache.root()))?;
    std::fs::rename(&unfinished, &sysroot).map_err(|e| ToolchainError::io("rename", &unfinished, e))?;
    Ok(sysroot)
}

/// The sysroot that [`ensure`] would return at once.
pub(super) fn cached(probe: &Probe, cache: &Cache) -> Option<PathBuf> {
    let sysroot = cache.dir("sysroots").join(format!("{}-{}", probe.version, key(probe)));
    has_core(&sysroot).then_some(sysroot)
}

/// What the result depends on.
fn key(probe: &Probe) -> String {
    let mut hash = Sha256::new();
    for part in [RECIPE, &probe.verbose_version, DEVICE_TARGET].into_iter().chain(FLAGS) {
        hash.update(part);
        hash.update([0]);
    }
    for name in driver_libraries(&probe.libllvm.path) {
        hash.update(name.as_encoded_bytes());
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn build(probe: &Probe, library: &Path, sysroot: &Path, dir: &Path) -> Result<(), ToolchainError> {
    let failed = |message: String| ToolchainError::CoreNotBuilt {
        rustc: probe.path.clone(),
        source_dir: library.to_owned(),
        message,
    };
    let version = VersionMeta::for_command(Command::new(&probe.path)).map_err(|e| failed(e.to_string()))?;
    SysrootBuilder::new(sysroot, DEVICE_TARGET)
        .build_mode(BuildMode::Build)
        .sysroot_config(SysrootConfig::NoStd)
        .rustc_version(version)
        .rustflags(FLAGS)
        .cargo(cargo(probe, dir))
        .build_from_source(library)
        .map_err(|error| failed(format!("{error:#}")))?;
    if has_core(sysroot) { Ok(()) } else { Err(failed("the build made no libcore".to_owned())) }
}

/// cargo as for a project of its own: without what the surrounding build, whose script this may run in, or
/// the folder's configuration say about wrappers, flags, profiles and targets; and without the network.
fn cargo(probe: &Probe, dir: &Path) -> Command {
    let beside = probe.path.with_file_name("cargo");
    let program = match std::env::var_os("CARGO") {
        // The one that came with this rustc reads its library's manifests; another one may be too old.
        _ if beside.is_file() => beside.into_os_string(),
        Some(cargo) => cargo,
        None => OsString::from("cargo"),
    };
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| steers_a_build(name)) {
        command.env_remove(name);
    }
    command
        .current_dir(dir)
        .env("RUSTC", &probe.path)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_NET_OFFLINE", "true")
        // An empty wrapper overrides one from a configuration file.
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "");
    command
}

fn steers_a_build(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let kept = ["CARGO_HOME", "CARGO_MAKEFLAGS"].contains(&&*name);
    name.starts_with("CARGO") && !kept || name.starts_with("RUSTFLAGS") || name.starts_with("RUSTC")
}

#[cfg(test)]
mod tests {
    use super::{
        super::{rustc::Core, testing::FakeRustc},
        *,
    };

    fn probe(dir: &Path, rustc: FakeRustc) -> Probe {
        Probe::run(&rustc.install(dir), dir).unwrap()
    }

    #[test]
    fn another_rustc_has_another_sysroot() {
        let dir = tempfile::tempdir().unwrap();
        let one = probe(&dir.path().join("one"), FakeRustc::new("1.96.0").source());
        let two = probe(&dir.path().join("two"), FakeRustc::new("1.96.1").source());
        assert_ne!(key(&one), key(&two));
        let before = key(&one);
        std::fs::write(dir.path().join("one/lib/librustc_driver-1234.so"), "").unwrap();
        assert_ne!(key(&one), before, "same version, other build");
    }

    #[test]
    fn a_failed_build_leaves_nothing_and_tells_what_cargo_said() {
        let dir = tempfile::tempdir().unwrap();
        let probe = probe(&dir.path().join("rust"), FakeRustc::new("1.96.0").source());
        super::super::testing::program(
            &dir.path().join("rust/bin/cargo"),
            "echo 'error: no space' >&2; exit 101",
        );
        let Core::Source(library) = probe.core.clone() else { panic!("{probe:?}") };
        let cache = Cache::at(dir.path().join("cache"));
        let options = FindOptions::new(dir.path());
        let error = ensure(&probe, &library, &cache, &options).unwrap_err().to_string();
        assert!(error.contains("error: no space") && error.contains("bin/rustc"), "{error}");
        assert_eq!(cached(&probe, &cache), None);
    }

    #[test]
    fn what_a_killed_build_left_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let probe = probe(&dir.path().join("rust"), FakeRustc::new("1.96.0").source());
        let Core::Source(library) = probe.core.clone() else { panic!("{probe:?}") };
        // Leaves what a build would, in the target directory that it is given.
        let script = "for last; do :; done\nout=\"$CARGO_TARGET_DIR/nvptx64-nvidia-cuda/custom_sysroot/deps\"\n\
                      mkdir -p \"$out\" && touch \"$out/libcore-1.rlib\" \
                      \"$out/liballoc-1.rlib\" \"$out/libcompiler_builtins-1.rlib\"";
        super::super::testing::program(&dir.path().join("rust/bin/cargo"), script);
        let cache = Cache::at(dir.path().join("cache"));
        let leftover = cache.dir("sysroots").join(format!(".tmp-1.96.0-{}", key(&probe)));
        std::fs::create_dir_all(leftover.join("half")).unwrap();
        let options = FindOptions::new(dir.path());
        let sysroot = ensure(&probe, &library, &cache, &options).unwrap();
        assert!(has_core(&sysroot) && !leftover.exists() && !sysroot.join("half").exists());
        assert_eq!(cached(&probe, &cache), Some(sysroot));
    }

    #[test]
    fn variables_of_the_surrounding_build_are_dropped() {
        for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTFLAGS", "CARGO_PROFILE_RELEASE_LTO"] {
            assert!(steers_a_build(OsStr::new(name)), "{name}");
        }
        for name in ["CARGO_HOME", "CARGO_MAKEFLAGS", "PATH", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
            assert!(!steers_a_build(OsStr::new(name)), "{name}");
        }
    }
}
