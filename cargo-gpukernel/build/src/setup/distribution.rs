//! Distribution: the distribution's own Rust packages, unpacked into the cache instead of installed.
//!
//! Nothing is known here about versions: apt tells which compiler package is recent enough, which standard
//! library and LLVM belong to it, and which shared libraries those need that the system does not have.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    SetupOptions,
    apt::{self, Apt, Package},
    download,
    place::{Unfinished, remove_dir},
};
use crate::toolchain::{Cache, Core, MINIMUM_RUSTC, Manifest, Probe, output_of};

/// Never unpacked: a process cannot have a second one, so the system's must do.
const OF_THE_SYSTEM: [&str; 3] = ["libc6", "libgcc-s1", "libstdc++6"];

/// Fetches and unpacks a device rustc. The error is a reason.
pub(super) fn install(options: &SetupOptions<'_>, cache: &Cache) -> Result<(), String> {
    let progress = &options.find.progress;
    let apt = Apt::prepare(cache)?;
    if options.offline {
        if !apt.has_lists() {
            return Err(format!(
                "no package lists are in {} and --offline forbids to fetch them",
                cache.root().display()
            ));
        }
    } else if let Err(reason) = apt.update(progress) {
        if !apt.has_lists() {
            return Err(reason);
        }
        progress.note(&format!("not all package lists could be fetched: {reason}"));
    }
    let compiler = compiler(&apt)?;
    let packages = closure(&compiler, &apt::installed()?, |names| apt.show(names))?;
    let files: Vec<PathBuf> =
        packages.iter().map(|package| fetch(&apt, package, options, cache)).collect::<Result<_, _>>()?;

    let parent = cache.make_dir("distribution").map_err(|error| error.to_string())?;
    // A colon would end an entry of LD_LIBRARY_PATH.
    let name = format!("{}-{}", compiler.compiler.version.replace(':', "-"), compiler.compiler.name);
    let unfinished = Unfinished::begin(&parent, &name).map_err(|error| error.to_string())?;
    for (package, file) in packages.iter().zip(&files) {
        progress.step(&format!("unpacking {} {}", package.name, package.version), None, || {
            apt::unpack(file, unfinished.path())
        })?;
    }
    complete(unfinished.path(), &packages)?;
    unfinished.finish().map_err(|error| error.to_string())?;
    Ok(())
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
    let installed: BTreeSet<&str> = installed.iter().map(String::as_str).chain(OF_THE_SYSTEM).collect();
    let belongs = |name: &str| name.starts_with("libstd-rust") || name.starts_with("libllvm");
    let is_library =
        |name: &str| name.starts_with("lib") && !name.ends_with("-dev") && !name.ends_with("-bin");
    let wanted = |alternatives: &Vec<String>| -> Option<String> {
        if let Some(name) = alternatives.iter().find(|name| belongs(name)) {
            return Some(name.clone());
        }
        let satisfied = alternatives.iter().any(|name| installed.contains(name.as_str()));
        alternatives.iter().find(|name| is_library(name)).filter(|_| !satisfied).cloned()
    };

    let mut taken: BTreeMap<String, Package> = BTreeMap::new();
    let mut new = vec![compiler.compiler.clone(), compiler.source.clone()];
    while !new.is_empty() {
        let names: BTreeSet<String> =
            new.iter().flat_map(|package| package.depends.iter().filter_map(wanted)).collect();
        taken.extend(new.drain(..).map(|package| (package.name.clone(), package)));
        let names: Vec<String> = names.into_iter().filter(|name| !taken.contains_key(name)).collect();
        if !names.is_empty() {
            new = show(&names);
            new.retain(|package| !taken.contains_key(&package.name));
        }
    }
    if !taken.keys().any(|name| name.starts_with("libstd-rust")) {
        return Err(format!("no package of the standard library belongs to {}", compiler.compiler.name));
    }
    Ok(taken.into_values().collect())
}

/// The package's file: the one fetched before, if its hash is right, else a new one.
fn fetch(apt: &Apt, package: &Package, options: &SetupOptions<'_>, cache: &Cache) -> Result<PathBuf, String> {
    let downloads = cache.make_dir("downloads").map_err(|error| error.to_string())?;
    let target = downloads.join(&package.file);
    if target.is_file() && download::check(&target, &package.sha256).is_ok() {
        return Ok(target);
    }
    if options.offline {
        return Err(format!(
            "{} is not in {} and --offline forbids to download it",
            package.file,
            downloads.display()
        ));
    }
    let unfinished = Unfinished::begin(&downloads, "deb").map_err(|error| error.to_string())?;
    apt.download(package, unfinished.path(), &options.find.progress)?;
    // apt escapes the colon of an epoch in its own way: the only file there is the one.
    let file = fs::read_dir(unfinished.path())
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .ok_or_else(|| format!("apt-get downloaded no file of {}", package.name))?;
    download::check(&file, &package.sha256).map_err(|error| error.to_string())?;
    fs::rename(&file, &target).map_err(|error| format!("{}: {error}", target.display()))?;
    remove_dir(unfinished.path()).map_err(|error| error.to_string())?;
    Ok(target)
}

/// Makes a toolchain of the unpacked packages: the wrapper that finds its libraries, and the note on LLVM.
fn complete(root: &Path, packages: &[Package]) -> Result<(), String> {
    let rustc = unpacked_rustc(root).ok_or("the packages hold no rustc")?;
    let libraries = library_dirs(root);
    let wrapper = root.join("bin").join("rustc");
    let script = wrapper_script(&rustc, &libraries);
    let write = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().unwrap_or(root))
            .and_then(|()| fs::write(path, text))
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    write(&wrapper, &script)?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("{}: {error}", wrapper.display()))?;

    let of_rustc = linked_libraries(&root.join(&rustc), root, &libraries)?;
    let missing: Vec<_> = of_rustc.missing.iter().map(String::as_str).collect();
    if !missing.is_empty() {
        return Err(format!(
            "rustc needs shared libraries that neither the system nor its packages have: {}",
            missing.join(", ")
        ));
    }
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
    write(&root.join(Manifest::FILE), &text)?;

    let probe = Probe::run(&wrapper, root).map_err(|refusal| refusal.to_string())?;
    if probe.core == Core::Missing { Err(probe.no_core().to_string()) } else { Ok(()) }
}

/// Where the packages put rustc, relative to `root`. Ubuntu keeps versions apart in `usr/lib/rust-1.96`.
fn unpacked_rustc(root: &Path) -> Option<PathBuf> {
    let mut places = vec![PathBuf::from("usr/bin")];
    places.extend(folders(root, Path::new("usr/lib")).into_iter().map(|dir| dir.join("bin")));
    places.into_iter().map(|dir| dir.join("rustc")).find(|file| root.join(file).is_file())
}

/// The folders of shared libraries, relative to `root`.
fn library_dirs(root: &Path) -> Vec<PathBuf> {
    let tops = [PathBuf::from("usr/lib"), PathBuf::from("lib")];
    let below = tops.iter().flat_map(|top| folders(root, top)).collect::<Vec<_>>();
    let deeper = below.iter().map(|dir| dir.join("lib")).collect::<Vec<_>>();
    let holds_libraries = |dir: &PathBuf| {
        fs::read_dir(root.join(dir))
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .any(|entry| entry.file_name().to_string_lossy().contains(".so"))
    };
    tops.into_iter().chain(below).chain(deeper).filter(holds_libraries).collect()
}

fn folders(root: &Path, dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(root.join(dir))
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
        .map(|entry| dir.join(entry.file_name()))
        .collect();
    found.sort();
    found
}

/// Starts the unpacked rustc with its own libraries, wherever the folder has been moved to.
fn wrapper_script(rustc: &Path, libraries: &[PathBuf]) -> String {
    let libraries: Vec<_> = libraries.iter().map(|dir| format!("$root/{}", dir.display())).collect();
    format!(
        "#!/bin/sh\n\
         # Made by `cargo gpukernel setup`.\n\
         root=\"${{0%/*}}/..\"\n\
         LD_LIBRARY_PATH=\"{}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"\n\
         export LD_LIBRARY_PATH\n\
         exec \"$root/{}\" \"$@\"\n",
        libraries.join(":"),
        rustc.display()
    )
}

/// What the loader finds for a program or library.
#[derive(Debug, Default, PartialEq, Eq)]
struct Linked {
    /// Libraries of the unpacked packages, relative to their root.
    inside: Vec<PathBuf>,
    /// Libraries that are nowhere.
    missing: Vec<String>,
}

fn linked_libraries(file: &Path, root: &Path, libraries: &[PathBuf]) -> Result<Linked, String> {
    let path: Vec<_> = libraries.iter().map(|dir| root.join(dir)).collect();
    let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
    let mut command = Command::new("ldd");
    command.arg(file).env("LD_LIBRARY_PATH", path).env("LC_ALL", "C");
    let text = output_of(&mut command, "ldd").map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(parse_ldd(&text, root))
}

/// Reads `libz3.so.4 => /cache/usr/lib/libz3.so.4 (0x00007f…)` and `libxml2.so.2 => not found`.
fn parse_ldd(text: &str, root: &Path) -> Linked {
    let mut linked = Linked::default();
    for line in text.lines() {
        let Some((name, target)) = line.trim().split_once(" => ") else { continue };
        if target.starts_with("not found") {
            linked.missing.push(name.to_owned());
        } else if let Some((path, _)) = target.rsplit_once(" (")
            && let Ok(relative) = Path::new(path).strip_prefix(root)
        {
            linked.inside.push(relative.to_owned());
        }
    }
    linked
}

/// The unpacked libraries that LLVM needs, each after those that it needs itself: whatever a library needs,
/// it needs fewer than what needs it.
fn load_order(libllvm: &Path, root: &Path, libraries: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let needed = linked_libraries(&root.join(libllvm), root, libraries)?.inside;
    let mut counted: Vec<(usize, PathBuf)> = needed
        .into_iter()
        .map(|path| Ok((linked_libraries(&root.join(&path), root, libraries)?.inside.len(), path)))
        .collect::<Result<_, String>>()?;
    counted.sort();
    Ok(counted.into_iter().map(|(_, path)| path).collect())
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn what_the_loader_says() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd)\n\
                    \tlibLLVM.so.22.1 => /c/usr/lib/libLLVM.so.22.1 (0x00007f12)\n\
                    \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f13)\n\
                    \tlibz3.so.4 => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f14)\n";
        let linked = parse_ldd(text, Path::new("/c"));
        assert_eq!(linked.inside, [PathBuf::from("usr/lib/libLLVM.so.22.1")]);
        assert_eq!(linked.missing, ["libz3.so.4"]);
    }

    #[test]
    fn the_wrapper_finds_rustc_and_libraries_from_its_own_place() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("moved here");
        crate::toolchain::testing::program(&root.join("usr/bin/rustc"), "echo \"$LD_LIBRARY_PATH $1\"");
        let libraries = [PathBuf::from("usr/lib/a"), PathBuf::from("lib/b")];
        let script = wrapper_script(Path::new("usr/bin/rustc"), &libraries);
        let wrapper = crate::toolchain::testing::program(&root.join("bin/rustc"), &script);
        let mut command = Command::new(&wrapper);
        command.arg("-vV").env("LD_LIBRARY_PATH", "/mine");
        let bin = root.join("bin").display().to_string();
        let expected = format!("{bin}/../usr/lib/a:{bin}/../lib/b:/mine -vV");
        assert_eq!(output_of(&mut command, "rustc").unwrap(), expected);
    }
}
