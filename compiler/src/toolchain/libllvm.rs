//! libLLVM: the shared library of the LLVM that a rustc was built with, found beside it.

use std::{
    ffi::{OsStr, OsString},
    io::Read,
    path::{Path, PathBuf},
};

use semver::Version;
use serde::{Deserialize, Serialize};

use super::{Refusal, cache::visible_entries};

/// The LLVM of a rustc as a shared library.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LibLlvm {
    /// The library.
    pub path: PathBuf,
    /// Its dependencies that the system's loader would not find, to be loaded before it in this order.
    pub dependencies: Vec<PathBuf>,
}

/// `toolchain.toml`: what `setup` notes at the root of a toolchain that it unpacked. Paths are relative to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Manifest {
    /// The library.
    pub(crate) libllvm: PathBuf,
    /// What to load before it, in this order.
    pub(crate) libllvm_dependencies: Vec<PathBuf>,
    /// The packages it consists of, with their versions.
    pub(crate) packages: Vec<String>,
}

impl Manifest {
    pub(crate) const FILE: &str = "toolchain.toml";
}

impl LibLlvm {
    /// The libLLVM of the rustc at `rustc`.
    pub(super) fn beside(
        rustc: &Path,
        sysroot: &Path,
        host: &str,
        rustc_version: &Version,
        llvm_version: &Version,
    ) -> Result<Self, Refusal> {
        if let Some(unpacked) = Self::of_unpacked(rustc) {
            return Ok(unpacked);
        }
        let major = llvm_version.major;
        let dirs = search_dirs(sysroot, host, major);
        let mut others = Vec::new();
        for file in dirs.iter().flat_map(|dir| libraries(dir)) {
            if version_in_name(&file) == Some(major) {
                return Ok(Self { path: file, dependencies: Vec::new() });
            }
            others.push(file);
        }
        let searched: Vec<_> = dirs.iter().map(|dir| dir.display().to_string()).collect();
        let searched = searched.join(", ");
        Err(Refusal::NoLibLlvm { version: rustc_version.clone(), major, searched, others })
    }

    /// That of a toolchain unpacked by `setup`, which knows.
    fn of_unpacked(rustc: &Path) -> Option<Self> {
        let root = rustc.parent()?.parent()?;
        let text = std::fs::read_to_string(root.join(Manifest::FILE)).ok()?;
        let manifest: Manifest = toml::from_str(&text).ok()?;
        let path = root.join(manifest.libllvm);
        let dependencies = manifest.libllvm_dependencies.iter().map(|path| root.join(path)).collect();
        path.is_file().then_some(Self { path, dependencies })
    }
}

/// rustup keeps it in `lib`; distributions in the folder of their shared libraries, or in LLVM's own.
fn search_dirs(sysroot: &Path, host: &str, major: u64) -> Vec<PathBuf> {
    let lib = sysroot.join("lib");
    let architecture = host.split('-').next().unwrap_or_default();
    vec![
        lib.join(format!("{architecture}-linux-gnu")),
        sysroot.join("lib64"),
        lib.join(format!("llvm-{major}")).join("lib"),
        sysroot.join("lib64").join(format!("llvm{major}")).join("lib"),
        lib,
    ]
    .into_iter()
    .filter(|dir| dir.is_dir())
    .collect()
}

/// The LLVM libraries in a folder. rustup also puts a linker script of a similar name there, so only files
/// that begin as ELF does count.
fn libraries(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("libLLVM") && name.contains(".so")
        })
        .map(|entry| entry.path())
        .filter(|path| is_elf(path))
        .collect();
    found.sort();
    found
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && &magic == b"\x7fELF"
}

/// 22 of `libLLVM.so.22.1-rust-1.96.0-stable`, `libLLVM.so.22.1`, `libLLVM-22.so` and `libLLVM-22-rust-….so`.
fn version_in_name(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let digits = name.strip_prefix("libLLVM.so.").or_else(|| name.strip_prefix("libLLVM-"))?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// The names of rustc's driver libraries beside its LLVM: they carry a hash that tells builds of one version apart where the commit does not, as
/// with a distribution's revisions.
pub(super) fn driver_libraries(libllvm: &Path) -> Vec<OsString> {
    let beside = libllvm.parent().map(visible_entries).unwrap_or_default();
    let names = beside.iter().filter_map(|entry| entry.file_name());
    let names = names.filter(|name| name.as_encoded_bytes().starts_with(b"librustc_driver"));
    names.map(OsStr::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{rustc::Probe, testing::FakeRustc},
        *,
    };

    #[test]
    fn every_way_of_naming_it() {
        for name in [
            "libLLVM.so.22.1-rust-1.96.0-stable",
            "libLLVM.so.22.1",
            "libLLVM-22.so",
            "libLLVM-22-rust-1.96.0-stable.so",
        ] {
            assert_eq!(version_in_name(Path::new(name)), Some(22), "{name}");
        }
        assert_eq!(version_in_name(Path::new("libLLVMSupport.so")), None);
    }

    #[test]
    fn none_is_refused_with_the_folders_searched() {
        let dir = tempfile::tempdir().unwrap();
        let rustc = FakeRustc::new("1.96.0").core().no_libllvm().install(dir.path());
        let refusal = Probe::run(&rustc, dir.path()).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            format!(
                "libLLVM 22, which rustc 1.96.0 was built with, is not beside it; searched {}",
                dir.path().join("lib").display()
            )
        );
    }

    #[test]
    fn one_of_another_major_version_is_refused_and_named() {
        let dir = tempfile::tempdir().unwrap();
        let rustc = FakeRustc::new("1.96.0").core().libllvm("libLLVM.so.19.1").install(dir.path());
        let refusal = Probe::run(&rustc, dir.path()).unwrap_err();
        assert!(refusal.to_string().contains("found only"), "{refusal}");
        assert!(refusal.to_string().contains("libLLVM.so.19.1"), "{refusal}");
    }

    #[test]
    fn a_linker_script_is_not_a_library() {
        let dir = tempfile::tempdir().unwrap();
        let rustc = FakeRustc::new("1.96.0").core().no_libllvm().install(dir.path());
        std::fs::write(dir.path().join("lib/libLLVM-22-rust-1.96.0-stable.so"), "INPUT(libLLVM.so.22.1)")
            .unwrap();
        assert!(Probe::run(&rustc, dir.path()).is_err());
    }

    #[test]
    fn an_unpacked_toolchain_knows_its_library_and_what_to_load_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let rustc = FakeRustc::new("1.96.0").source().no_libllvm().install(dir.path());
        std::fs::create_dir_all(dir.path().join("usr/lib")).unwrap();
        std::fs::write(dir.path().join("usr/lib/libLLVM.so.22.1"), "\x7fELF").unwrap();
        let manifest = Manifest {
            libllvm: "usr/lib/libLLVM.so.22.1".into(),
            libllvm_dependencies: vec!["usr/lib/libz3.so.4".into()],
            packages: vec!["libllvm22 22.1.8".into()],
        };
        std::fs::write(dir.path().join(Manifest::FILE), toml::to_string(&manifest).unwrap()).unwrap();
        let probe = Probe::run(&rustc, dir.path()).unwrap();
        assert_eq!(probe.libllvm.path, dir.path().join("usr/lib/libLLVM.so.22.1"));
        assert_eq!(probe.libllvm.dependencies, [dir.path().join("usr/lib/libz3.so.4")]);
    }
}
