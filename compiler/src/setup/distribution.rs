//! Distribution: the distribution's own Rust packages, unpacked into the cache instead of installed.
//!
//! Nothing is known here about versions: apt tells which compiler package is recent enough, which standard
//! library and LLVM belong to it, and which shared libraries those need that the system does not have.

use std::path::{Path, PathBuf};

use super::{
    SetupOptions,
    apt::{self, Apt, Package},
    packages,
};
use crate::toolchain::{Cache, Core, MINIMUM_RUSTC, Manifest, Probe};

/// Fetches and unpacks a device rustc. The error is a reason.
pub(super) fn install(options: &SetupOptions<'_>, cache: &Cache) -> Result<(), String> {
    let apt = packages::prepare(options, cache)?;
    let compiler = compiler(&apt)?;
    let packages = closure(&compiler, &apt::installed()?, |names| apt.show(names))?;
    let Package { name, version, .. } = &compiler.compiler;
    packages::unpack(options, cache, &apt, &packages, ("distribution", name, version), complete)
}

/// A compiler package and the package with the source of its standard library.
#[derive(Debug)]
struct Compiler {
    compiler: Package,
    source: Package,
}

/// The newest compiler package, if it is new enough. Debian backports current compilers for its browsers as
/// `rustc-web`; Ubuntu packages several versions side by side, as `rustc-1.96`.
fn compiler(apt: &Apt) -> Result<Compiler, String> {
    let names: Vec<String> =
        apt.names("rustc")?.into_iter().filter(|name| source_name(name).is_some()).collect();
    let mut found = apt.show(&names);
    found.sort_by_key(|package| apt::upstream_version(&package.version));
    let Some(compiler) = found.pop() else {
        return Err("the distribution has no package of rustc".to_owned());
    };
    if apt::upstream_version(&compiler.version) < Some(MINIMUM_RUSTC) {
        let Package { name, version, .. } = compiler;
        return Err(format!(
            "the distribution's newest rustc is {version} (package {name}); kernels need {MINIMUM_RUSTC} or later"
        ));
    }
    let source = source_name(&compiler.name).unwrap_or_default();
    let source = apt
        .show(std::slice::from_ref(&source))
        .pop()
        .ok_or_else(|| format!("the distribution has no package {source}"))?;
    if source.version != compiler.version {
        let (a, b) = (&source, &compiler);
        return Err(format!("{} {} does not belong to {} {}", a.name, a.version, b.name, b.version));
    }
    Ok(Compiler { compiler, source })
}

/// The package with the source of this compiler package's standard library.
fn source_name(compiler: &str) -> Option<String> {
    match compiler.strip_prefix("rustc")? {
        "" => Some("rust-src".to_owned()),
        "-web" => Some("rust-web-src".to_owned()),
        version if version.strip_prefix('-')?.starts_with(|c: char| c.is_ascii_digit()) => {
            Some(format!("rust{version}-src"))
        }
        _ => None,
    }
}

/// The compiler, the source, the standard library, its LLVM, and the shared libraries that these need and
/// that are not installed. The C toolchain that packages of compilers also ask for is not part of it: the
/// host's programs are linked with the one that the user has.
fn closure(
    compiler: &Compiler,
    installed: &[String],
    show: impl Fn(&[String]) -> Vec<Package>,
) -> Result<Vec<Package>, String> {
    let belongs = |name: &str| name.starts_with("libstd-rust") || name.starts_with("libllvm");
    let first = [compiler.compiler.clone(), compiler.source.clone()];
    let taken = packages::closure(&first, belongs, installed, show);
    if !taken.iter().any(|package| package.name.starts_with("libstd-rust")) {
        return Err(format!("no package of the standard library belongs to {}", compiler.compiler.name));
    }
    Ok(taken)
}

/// Makes a toolchain of the unpacked packages: the wrapper that finds its libraries, and the note on LLVM.
fn complete(root: &Path, packages: &[Package]) -> Result<(), String> {
    let rustc = unpacked_rustc(root).ok_or("the packages hold no rustc")?;
    let libraries = packages::library_dirs(root);
    let wrapper = packages::write_wrapper(root, "rustc", &rustc, &libraries)?;
    let of_rustc = packages::linked_libraries(&root.join(&rustc), root, &libraries)?;
    let libllvm = of_rustc
        .inside
        .iter()
        .find(|path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"libLLVM")))
        .ok_or("rustc does not use LLVM as a shared library")?;
    let manifest = Manifest {
        libllvm: libllvm.clone(),
        libllvm_dependencies: load_order(libllvm, root, &libraries)?,
        packages: packages.iter().map(|package| format!("{} {}", package.name, package.version)).collect(),
    };
    let text = toml::to_string(&manifest).map_err(|error| error.to_string())?;
    packages::write(&root.join(Manifest::FILE), &text)?;

    let probe = Probe::run(&wrapper, root).map_err(|refusal| refusal.to_string())?;
    if probe.core == Core::Missing { Err(probe.no_core().to_string()) } else { Ok(()) }
}

/// Where the packages put rustc, relative to `root`. Ubuntu keeps versions apart in `usr/lib/rust-1.96`.
fn unpacked_rustc(root: &Path) -> Option<PathBuf> {
    let mut places = vec![PathBuf::from("usr/bin")];
    places.extend(packages::folders(root, Path::new("usr/lib")).into_iter().map(|dir| dir.join("bin")));
    places.into_iter().map(|dir| dir.join("rustc")).find(|file| root.join(file).is_file())
}

/// The unpacked libraries that LLVM needs, each after those that it needs itself: whatever a library needs,
/// it needs fewer than what needs it.
fn load_order(libllvm: &Path, root: &Path, libraries: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let needed = packages::linked_libraries(&root.join(libllvm), root, libraries)?.inside;
    let mut counted: Vec<(usize, PathBuf)> = needed
        .into_iter()
        .map(|path| Ok((packages::linked_libraries(&root.join(&path), root, libraries)?.inside.len(), path)))
        .collect::<Result<_, String>>()?;
    counted.sort();
    Ok(counted.into_iter().map(|(_, path)| path).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn package(name: &str, depends: &[&[&str]]) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.96.0-1".to_owned(),
            depends: depends.iter().map(|any| any.iter().map(|name| (*name).to_owned()).collect()).collect(),
            ..Package::default()
        }
    }

    /// The packages of Debian 12, shortened.
    fn debian() -> BTreeMap<String, Package> {
        [
            package("rustc-web", &[&["libc6"], &["libstd-rust-web-dev"], &["gcc"], &["binutils"]]),
            package("rust-web-src", &[]),
            package("libstd-rust-web-dev", &[&["libstd-rust-web-1.96"]]),
            package("libstd-rust-web-1.96", &[&["libc6"], &["libgcc-s1"], &["libllvm22"], &["libstdc++6"]]),
            package(
                "libllvm22",
                &[&["libedit2"], &["libz3-4"], &["libxml2"], &["zlib1g"], &["libffi7", "libffi8"]],
            ),
            package("libedit2", &[&["libbsd0"], &["libtinfo6"]]),
            package("libbsd0", &[&["libmd0"]]),
            package("libmd0", &[]),
            package("libz3-4", &[]),
            package("libxml2", &[&["libicu72"]]),
            package("libicu72", &[]),
            package("libtinfo6", &[]),
        ]
        .into_iter()
        .map(|package| (package.name.clone(), package))
        .collect()
    }

    fn closure_names(installed: &[&str]) -> Vec<String> {
        let all = debian();
        let compiler = Compiler { compiler: all["rustc-web"].clone(), source: all["rust-web-src"].clone() };
        let installed: Vec<String> = installed.iter().map(|name| (*name).to_owned()).collect();
        let show = |names: &[String]| names.iter().filter_map(|name| all.get(name).cloned()).collect();
        closure(&compiler, &installed, show).unwrap().into_iter().map(|package| package.name).collect()
    }

    const ALWAYS: [&str; 5] =
        ["libllvm22", "libstd-rust-web-1.96", "libstd-rust-web-dev", "rust-web-src", "rustc-web"];

    #[test]
    fn only_what_the_system_lacks() {
        let installed = ["libedit2", "libz3-4", "libxml2", "libffi8", "zlib1g"];
        assert_eq!(closure_names(&installed), ALWAYS);
        let minimal = closure_names(&["libtinfo6", "zlib1g", "libffi8"]);
        let mut expected = ALWAYS.to_vec();
        expected.extend(["libbsd0", "libedit2", "libicu72", "libmd0", "libxml2", "libz3-4"]);
        expected.sort_unstable();
        assert_eq!(minimal, expected);
    }

    #[test]
    fn libraries_that_belong_to_the_compiler_are_taken_though_installed() {
        assert!(
            closure_names(&["libllvm22", "libedit2", "libz3-4", "libxml2"]).contains(&"libllvm22".to_owned())
        );
    }

    #[test]
    fn the_source_package_of_each_compiler_package() {
        assert_eq!(source_name("rustc").as_deref(), Some("rust-src"));
        assert_eq!(source_name("rustc-web").as_deref(), Some("rust-web-src"));
        assert_eq!(source_name("rustc-1.96").as_deref(), Some("rust-1.96-src"));
        assert_eq!(source_name("rustc-mozilla"), None);
        assert_eq!(source_name("rustc-1"), Some("rust-1-src".to_owned()));
    }
}
