//! Kernel crates that are dependencies of the package whose build script compiles them, wherever cargo gets them from.
//!
//! A package of a registry has no folders with packages of their own, so that the kernels of a published library are a package beside it. The kernel
//! crate says where it is, through `links` and its build script (docs/decisions/0030).

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    os::unix::process::parent_id,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{Error, files};

/// The end of the variables in which cargo hands on what a kernel crate says by `cargo::metadata=gpukernel_root=…`. Between this and `DEP_` stands
/// the value of its `links`.
const ROOT: &str = "_GPUKERNEL_ROOT";

/// A dependency of the package cannot be compiled as a kernel crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DependencyError {
    /// No dependency of this name says where it is.
    #[error("{}", unknown(name, known))]
    Unknown {
        /// The name.
        name: String,
        /// Those that do.
        known: Vec<String>,
    },
    /// What a dependency says is no folder with a package.
    #[error(
        "{variable} says that a kernel crate is in {}, and there is no Cargo.toml with a package: if the folder was moved, run `cargo clean`",
        root.display()
    )]
    NoPackage {
        /// The variable.
        variable: String,
        /// The folder.
        root: PathBuf,
    },
    /// The folder of a kernel crate cannot be written into a manifest.
    #[error("the path {} is not UTF-8, which manifests of cargo are", .0.display())]
    NotUtf8(PathBuf),
}

fn unknown(name: &str, known: &[String]) -> String {
    let others = match known {
        [] => "none does".to_owned(),
        _ => format!("these do: {}", known.join(", ")),
    };
    format!(
        "no package under `[dependencies]` is `{name}` and says where its kernels are; {others}. The Cargo.toml of `{name}` has to have \
         `links = \"{name}\"` under `[package]`, and its build.rs to print `cargo::metadata=gpukernel_root=` and the value of CARGO_MANIFEST_DIR"
    )
}

/// A kernel crate among the dependencies.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) root: PathBuf,
    id: PackageId,
}

/// Name and version of a package.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct PackageId {
    name: String,
    version: String,
}

impl Dependency {
    /// The kernel crate of this name, of what cargo says to the build script in these variables.
    pub(crate) fn find(
        name: &str,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<Self, DependencyError> {
        let mut known = Vec::new();
        for (variable, root) in variables {
            let Some(variable) =
                variable.to_str().filter(|name| name.starts_with("DEP_") && name.ends_with(ROOT))
            else {
                continue;
            };
            let root = PathBuf::from(root);
            let manifest = fs::read_to_string(root.join("Cargo.toml")).ok();
            let package = manifest.and_then(|text| toml::from_str::<Manifest>(&text).ok());
            let id = package.map(|manifest| manifest.package).ok_or_else(|| DependencyError::NoPackage {
                variable: variable.to_owned(),
                root: root.clone(),
            })?;
            if id.name == name {
                // In a workspace, it may be inherited; only those of registries are compared.
                let version = id.version.as_str().unwrap_or_default().to_owned();
                return Ok(Self { root, id: PackageId { name: id.name, version } });
            }
            known.push(id.name);
        }
        known.sort();
        Err(DependencyError::Unknown { name: name.to_owned(), known })
    }

    /// Whether it is a package that cargo has unpacked: such ones hold the manifest that their author wrote, too.
    pub(crate) fn is_packaged(&self) -> bool {
        self.root.join("Cargo.toml.orig").is_file()
    }
}

#[derive(Deserialize)]
struct Manifest {
    package: ManifestPackage,
}

#[derive(Deserialize)]
struct ManifestPackage {
    name: String,
    #[serde(default = "no_version")]
    version: toml::Value,
}

fn no_version() -> toml::Value {
    toml::Value::String(String::new())
}

/// A workspace of its own in which an unpacked kernel crate is a dependency: its folder belongs to cargo, may be read-only, and may lie in a workspace
/// that it is no member of. Its dependencies have the versions that they have in the program.
#[derive(Debug)]
pub(crate) struct Wrapper {
    /// The manifest of that workspace.
    pub(crate) manifest: PathBuf,
    /// The kernel crate in it, as `--package` takes it.
    pub(crate) package: String,
    /// The folder to run cargo in, whose configuration counts.
    pub(crate) dir: PathBuf,
    /// The Cargo.lock of the program, if it was found.
    pub(crate) lock: Option<PathBuf>,
}

/// What a [`Wrapper`] is made of.
pub(crate) struct WrapperInput<'a> {
    pub(crate) dependency: &'a Dependency,
    /// The folder to write it to.
    pub(crate) dir: &'a Path,
    /// The package of the build script: its folder, name and version.
    pub(crate) package_dir: &'a Path,
    pub(crate) features: &'a [String],
    pub(crate) default_features: bool,
}

impl Wrapper {
    /// Writes it.
    pub(crate) fn write(input: &WrapperInput<'_>) -> Result<Self, Error> {
        let Dependency { root, id } = input.dependency;
        let lock = lock_file(&[id.clone(), own_id()?], input.package_dir);
        let dir = lock.as_deref().and_then(Path::parent).unwrap_or(input.package_dir).to_owned();
        let patches = lock.as_ref().and_then(|lock| patches(&lock.with_file_name("Cargo.toml")));
        let path = root.to_str().ok_or_else(|| DependencyError::NotUtf8(root.clone()))?;
        let dependency = toml::toml! { path = "" "default-features" = true features = [] };
        let mut dependency = dependency;
        dependency.insert("path".to_owned(), path.into());
        dependency.insert("default-features".to_owned(), input.default_features.into());
        dependency.insert("features".to_owned(), input.features.to_vec().into());
        let mut manifest = toml::toml! {
            [package]
            name = "gpukernel-wrapper"
            version = "0.0.0"
            edition = "2024"
            [lib]
            path = "lib.rs"
            [workspace]
            [dependencies]
        };
        manifest.insert(
            "dependencies".to_owned(),
            toml::Table::from_iter([(id.name.clone(), dependency.into())]).into(),
        );
        manifest.extend(patches.map(|patches| ("patch".to_owned(), patches)));
        let write = |name: &str, text: &str| {
            let path = input.dir.join(name);
            // As it is, cargo need not read it again.
            match fs::read_to_string(&path).is_ok_and(|old| old == text) {
                true => Ok(()),
                false => files::write(&path, text),
            }
        };
        fs::create_dir_all(input.dir).map_err(|reason| Error::File { path: input.dir.to_owned(), reason })?;
        write("lib.rs", "")?;
        write("Cargo.toml", &manifest.to_string())?;
        match &lock {
            Some(lock) => {
                let text =
                    fs::read_to_string(lock).map_err(|reason| Error::File { path: lock.clone(), reason })?;
                write("Cargo.lock", &text)?;
            }
            None => println!(
                "cargo::warning=the Cargo.lock of the program was not found, so that the kernels of {} may get other versions of what they depend on \
                 than the program",
                id.name
            ),
        }
        Ok(Self {
            manifest: input.dir.join("Cargo.toml"),
            package: format!("{}@{}", id.name, id.version),
            dir,
            lock,
        })
    }
}

/// The package of the build script.
fn own_id() -> Result<PackageId, Error> {
    let variable = |name| env::var(name).map_err(|_| Error::NotABuildScript(name));
    Ok(PackageId { name: variable("CARGO_PKG_NAME")?, version: variable("CARGO_PKG_VERSION")? })
}

/// The Cargo.lock of the program that is built, which cargo does not tell build scripts of: the first above the folders that may be in its workspace
/// which has these packages.
fn lock_file(packages: &[PackageId], package_dir: &Path) -> Option<PathBuf> {
    let cargo = PathBuf::from(format!("/proc/{}", parent_id()));
    let cwd = fs::read_link(cargo.join("cwd")).ok();
    let manifest = fs::read(cargo.join("cmdline")).ok().and_then(|line| manifest_of(&line));
    let named = manifest.and_then(|manifest| Some(cwd.as_deref()?.join(manifest)));
    let variables = ["PWD", "OUT_DIR"].map(|name| env::var_os(name).map(PathBuf::from));
    let folders = [named, cwd].into_iter().chain(variables).flatten().chain([package_dir.to_owned()]);
    let files: Vec<_> = folders
        .flat_map(|folder| folder.ancestors().map(|dir| dir.join("Cargo.lock")).collect::<Vec<_>>())
        .collect();
    files.into_iter().find(|file| has_packages(file, packages))
}

/// The value of `--manifest-path` in a command line, whose words end with zeros.
fn manifest_of(line: &[u8]) -> Option<PathBuf> {
    let mut words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    while let Some(word) = words.next() {
        match word.strip_prefix("--manifest-path") {
            Some("") => return words.next().map(|path| PathBuf::from(path.as_ref())),
            Some(rest) => return rest.strip_prefix('=').map(PathBuf::from),
            None => {}
        }
    }
    None
}

fn has_packages(lock: &Path, packages: &[PackageId]) -> bool {
    #[derive(Deserialize)]
    struct Lock {
        #[serde(default)]
        package: Vec<PackageId>,
    }
    let Ok(text) = fs::read_to_string(lock) else { return false };
    let Ok(lock) = toml::from_str::<Lock>(&text) else { return false };
    packages.iter().all(|wanted| lock.package.contains(wanted))
}

/// The patches of the program's workspace, with absolute paths.
fn patches(manifest: &Path) -> Option<toml::Value> {
    let text = fs::read_to_string(manifest).ok()?;
    let mut patches: BTreeMap<String, toml::Table> =
        toml::from_str::<toml::Table>(&text).ok()?.remove("patch")?.try_into().ok()?;
    let dir = manifest.parent()?;
    for patch in patches.values_mut().flat_map(|source| source.iter_mut()) {
        if let Some(toml::Value::String(path)) = patch.1.get_mut("path") {
            *path = dir.join(&*path).to_str()?.to_owned();
        }
    }
    toml::Value::try_from(patches).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(roots: &[(&str, &Path)]) -> Vec<(OsString, OsString)> {
        roots.iter().map(|(name, root)| ((*name).into(), root.into())).collect()
    }

    fn find(name: &str, roots: &[(&str, &Path)]) -> Result<Dependency, String> {
        Dependency::find(name, variables(roots).into_iter()).map_err(|error| error.to_string())
    }

    #[test]
    fn dependencies_are_found_by_the_name_of_their_package() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("Cargo.toml"), "[package]\nname = \"my-kernels\"\nversion = \"1.2.0\"\n")
            .unwrap();
        let roots = [("DEP_Z_ROOT", Path::new("/z")), ("DEP_MY_KERNELS_1_GPUKERNEL_ROOT", dir.path())];
        let found = find("my-kernels", &roots).unwrap();
        assert_eq!((found.root.as_path(), found.id.version.as_str()), (dir.path(), "1.2.0"));
        assert!(!found.is_packaged());
        fs::write(dir.path().join("Cargo.toml.orig"), "").unwrap();
        assert!(found.is_packaged());
        let error = find("other", &roots).unwrap_err();
        assert!(error.contains("these do: my-kernels.") && error.contains("`links = \"other\"`"), "{error}");
        assert!(find("other", &[]).unwrap_err().contains("none does."));
        fs::write(
            dir.path().join("Cargo.toml"),
            "[package]\nname = \"my-kernels\"\nversion.workspace = true\n",
        )
        .unwrap();
        assert_eq!(find("my-kernels", &roots).unwrap().id.version, "");
        fs::remove_file(dir.path().join("Cargo.toml")).unwrap();
        assert!(find("my-kernels", &roots).unwrap_err().contains("there is no Cargo.toml with a package"));
    }

    #[test]
    fn the_lock_file_is_the_one_with_the_packages() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("vendor/library");
        fs::create_dir_all(&inner).unwrap();
        let lock = |name: &str| format!("version = 4\n[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\n");
        fs::write(inner.join("Cargo.lock"), lock("other")).unwrap();
        fs::write(dir.path().join("Cargo.lock"), lock("gpukernel-test-library")).unwrap();
        let id = |version: &str| PackageId {
            name: "gpukernel-test-library".to_owned(),
            version: version.to_owned(),
        };
        assert_eq!(lock_file(&[id("1.0.0")], &inner), Some(dir.path().join("Cargo.lock")));
        assert_eq!(lock_file(&[id("1.0.1")], &inner), None);
    }

    #[test]
    fn a_manifest_is_read_from_the_command_line() {
        let of = |line: &str| manifest_of(line.replace(' ', "\0").as_bytes());
        assert_eq!(of("cargo build --manifest-path a/Cargo.toml -q"), Some("a/Cargo.toml".into()));
        assert_eq!(of("cargo build --manifest-path=a/Cargo.toml"), Some("a/Cargo.toml".into()));
        assert_eq!(of("cargo build --manifest"), None);
    }

    #[test]
    fn patches_keep_their_folders() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = dir.path().join("Cargo.toml");
        let text = "[patch.crates-io]\na = { path = \"../a\" }\nb = { git = \"https://example.org\" }\n[patch.\"https://x\"]\nc = { path = \"/c\" }\n";
        fs::write(&manifest, text).unwrap();
        let patches = patches(&manifest).unwrap();
        assert_eq!(patches["crates-io"]["a"]["path"].as_str(), dir.path().join("../a").to_str());
        assert_eq!(patches["crates-io"]["b"]["git"].as_str(), Some("https://example.org"));
        assert_eq!(patches["https://x"]["c"]["path"].as_str(), Some("/c"));
    }
}
