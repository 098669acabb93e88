//! Packages of the distribution, unpacked into the cache instead of installed: a program with the shared libraries that the system
//! does not have, and a script that starts it with those.

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
use crate::toolchain::{Cache, output_of};

/// Never unpacked: a process cannot have a second one, so the system's must do.
const OF_THE_SYSTEM: [&str; 3] = ["libc6", "libgcc-s1", "libstdc++6"];

/// apt with lists that are as new as can be had. The error is a reason.
pub(super) fn prepare(options: &SetupOptions<'_>, cache: &Cache) -> Result<Apt, String> {
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
    Ok(apt)
}

/// Packages, those of their dependencies that belong to them, and the shared libraries that these need and that are not installed.
pub(super) fn closure(
    first: &[Package],
    belongs: impl Fn(&str) -> bool,
    installed: &[String],
    show: impl Fn(&[String]) -> Vec<Package>,
) -> Vec<Package> {
    let installed: BTreeSet<&str> = installed.iter().map(String::as_str).chain(OF_THE_SYSTEM).collect();
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
    let mut new = first.to_vec();
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
    taken.into_values().collect()
}

/// Fetches and unpacks packages into a folder of the cache, named after one of them, which `complete` makes a tool of.
pub(super) fn unpack(
    options: &SetupOptions<'_>,
    cache: &Cache,
    apt: &Apt,
    packages: &[Package],
    (parent, name, version): (&str, &str, &str),
    complete: impl FnOnce(&Path, &[Package]) -> Result<(), String>,
) -> Result<(), String> {
    let files: Vec<PathBuf> =
        packages.iter().map(|package| fetch(apt, package, options, cache)).collect::<Result<_, _>>()?;
    let parent = cache.make_dir(parent).map_err(|error| error.to_string())?;
    // A colon would end an entry of LD_LIBRARY_PATH.
    let name = format!("{}-{name}", version.replace(':', "-"));
    let unfinished = Unfinished::begin(&parent, &name).map_err(|error| error.to_string())?;
    for (package, file) in packages.iter().zip(&files) {
        options.find.progress.step(
            &format!("unpacking {} {}", package.name, package.version),
            None,
            || apt::unpack(file, unfinished.path()),
        )?;
    }
    complete(unfinished.path(), packages)?;
    unfinished.finish().map_err(|error| error.to_string())?;
    Ok(())
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

/// Writes `bin/NAME`, which starts an unpacked program, and checks that its libraries are there.
pub(super) fn write_wrapper(
    root: &Path,
    name: &str,
    program: &Path,
    libraries: &[PathBuf],
) -> Result<PathBuf, String> {
    let wrapper = root.join("bin").join(name);
    write(&wrapper, &wrapper_script(program, libraries))?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("{}: {error}", wrapper.display()))?;
    let missing = linked_libraries(&root.join(program), root, libraries)?.missing;
    if missing.is_empty() {
        return Ok(wrapper);
    }
    Err(format!(
        "{name} needs shared libraries that neither the system nor its packages have: {}",
        missing.join(", ")
    ))
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::create_dir_all(path.parent().unwrap_or(path))
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// The folders of shared libraries, relative to `root`.
pub(super) fn library_dirs(root: &Path) -> Vec<PathBuf> {
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

pub(super) fn folders(root: &Path, dir: &Path) -> Vec<PathBuf> {
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

/// Starts an unpacked program with its own libraries, wherever the folder has been moved to.
fn wrapper_script(program: &Path, libraries: &[PathBuf]) -> String {
    let libraries: Vec<_> = libraries.iter().map(|dir| format!("$root/{}", dir.display())).collect();
    format!(
        "#!/bin/sh\n\
         # Made by `cargo gpukernel setup`.\n\
         root=\"${{0%/*}}/..\"\n\
         LD_LIBRARY_PATH=\"{}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"\n\
         export LD_LIBRARY_PATH\n\
         exec \"$root/{}\" \"$@\"\n",
        libraries.join(":"),
        program.display()
    )
}

/// What the loader finds for a program or library.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Linked {
    /// Libraries of the unpacked packages, relative to their root.
    pub(super) inside: Vec<PathBuf>,
    /// Libraries that are nowhere.
    pub(super) missing: Vec<String>,
}

pub(super) fn linked_libraries(file: &Path, root: &Path, libraries: &[PathBuf]) -> Result<Linked, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
