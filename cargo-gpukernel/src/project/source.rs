//! Where a project gets gpukernel from: a registry, a checkout, or a git repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use toml_edit::{DocumentMut, InlineTable, Value};

/// A package of gpukernel that projects depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its folder in a checkout.
    folder: &'static str,
}

/// What launches kernels.
pub(crate) const RUNTIME: Part = Part { name: "gpukernel", folder: "runtime" };
/// What kernels are written with.
pub(crate) const DEVICE_LIBRARY: Part = Part { name: "gpukernel-std", folder: "gpu-std" };
/// What compiles them in build scripts.
pub(crate) const BUILD: Part = Part { name: "gpukernel-build", folder: "compiler" };

/// What measures them.
pub(crate) const BENCH: Part = Part { name: "gpukernel-bench", folder: "bench" };

/// What has arrays.
pub(crate) const ARRAY: Part = Part { name: "gpukernel-array", folder: "array" };

/// What has those of Python.
pub(crate) const PYTHON: Part = Part { name: "gpukernel-python", folder: "python" };

/// All of them.
pub(crate) const PARTS: [Part; 6] = [RUNTIME, DEVICE_LIBRARY, BUILD, BENCH, ARRAY, PYTHON];

/// This package, whose version the others have as well.
const THIS: &str = env!("CARGO_PKG_NAME");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where gpukernel comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The registry, with this program's version.
    Registry,
    /// A checkout of the repository.
    Checkout(PathBuf),
    /// A git repository.
    Git {
        /// Its address.
        url: String,
        /// A commit, tag or branch; else the default branch.
        revision: Option<String>,
    },
}

impl Source {
    /// As users write it: `registry`, the address of a git repository, with `#` before a commit, or a folder.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        if text == "registry" {
            return Ok(Self::Registry);
        }
        if text.contains("://") || text.starts_with("git@") {
            let (url, revision) = match text.split_once('#') {
                Some((url, revision)) => (url, Some(revision.to_owned())),
                None => (text, None),
            };
            return Ok(Self::Git { url: url.to_owned(), revision });
        }
        let folder = PathBuf::from(text);
        ensure!(
            is_checkout(&folder),
            "`{text}` is not a source of gpukernel: give `registry`, the address of a git repository, or the folder of a checkout, which has \
             `{}/Cargo.toml`",
            RUNTIME.folder
        );
        Ok(Self::Checkout(folder))
    }

    /// Where this program was installed from.
    pub(crate) fn of_this_program() -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().filter(|folder| is_checkout(folder));
        Ok(match (installed_from(&program), checkout) {
            (Some(id), _) if id.starts_with("git+") => Self::of_package_id(&id),
            (Some(id), Some(checkout)) if id.starts_with("path+") => Self::Checkout(checkout.to_owned()),
            (None, Some(checkout)) => Self::Checkout(checkout.to_owned()),
            _ => Self::Registry,
        })
    }

    /// The repository of a package id, `git+https://example.org/repository?branch=main#0123abcd`.
    fn of_package_id(id: &str) -> Self {
        let address = id.trim_start_matches("git+");
        let (address, revision) = match address.split_once('#') {
            Some((address, revision)) => (address, Some(revision.to_owned())),
            None => (address, None),
        };
        let url = address.split('?').next().unwrap_or(address).to_owned();
        Self::Git { url, revision }
    }

    /// The checkout as manifests and commands are to write it: relative to `from` if it was given as a relative path, or if `root`, to which the
    /// manifest belongs, contains it.
    fn checkout(&self, from: &Path, root: &Path) -> anyhow::Result<Option<PathBuf>> {
        let Self::Checkout(folder) = self else { return Ok(None) };
        let found = folder.canonicalize().with_context(|| format!("cannot read {}", folder.display()))?;
        let is_relative = folder.is_relative() || found.starts_with(root);
        Ok(Some(if is_relative { relative(&found, from) } else { found }))
    }

    /// What a manifest in the folder `from` says of this part, behind `=`. Both folders are absolute and exist no more than they have to.
    pub(crate) fn dependency(&self, part: Part, from: &Path, root: &Path) -> anyhow::Result<Value> {
        let mut table = InlineTable::new();
        match self {
            Self::Registry => return Ok(VERSION.into()),
            Self::Checkout(_) => {
                let folder = self.checkout(from, root)?.unwrap_or_default().join(part.folder);
                let folder = folder.to_str().with_context(|| format!("{} is not UTF-8", folder.display()))?;
                table.insert("path", folder.into());
            }
            Self::Git { url, revision } => {
                table.insert("git", url.into());
                if let Some(revision) = revision {
                    table.insert("rev", revision.into());
                }
            }
        }
        Ok(table.into())
    }

    /// The command that installs this program from there, in the folder `from`.
    pub(crate) fn install_command(&self, from: &Path, root: &Path) -> anyhow::Result<String> {
        Ok(match self {
            Self::Registry => format!("cargo install --locked {THIS}@{VERSION}"),
            Self::Checkout(_) => {
                let folder = self.checkout(from, root)?.unwrap_or_default().join(THIS);
                format!("cargo install --locked --path {}", quoted(&folder.to_string_lossy()))
            }
            Self::Git { url, revision } => {
                let revision =
                    revision.iter().map(|revision| format!(" --rev {revision}")).collect::<String>();
                format!("cargo install --locked --git {url}{revision} {THIS}")
            }
        })
    }
}

/// For a shell.
fn quoted(path: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "/._-".contains(character);
    match path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

fn is_checkout(folder: &Path) -> bool {
    PARTS.iter().all(|part| folder.join(part.folder).join("Cargo.toml").is_file())
}

/// The package id that `cargo install` noted for this program, which lies in `ROOT/bin`.
fn installed_from(program: &Path) -> Option<String> {
    let bin = program.parent().filter(|folder| folder.ends_with("bin"))?;
    let notes: DocumentMut = fs::read_to_string(bin.parent()?.join(".crates.toml")).ok()?.parse().ok()?;
    let file = program.file_name()?.to_str()?;
    let installed = notes.as_table().get("v1")?.as_table_like()?;
    installed.iter().find_map(|(id, programs)| {
        let has_it = programs.as_array()?.iter().any(|program| program.as_str() == Some(file));
        // `cargo-gpukernel 0.1.0 (registry+https://github.com/rust-lang/crates.io-index)`
        let (name, source) =
            id.split_once(' ').and_then(|(name, rest)| Some((name, rest.split_once(" (")?.1)))?;
        (has_it && name == THIS).then(|| source.trim_end_matches(')').to_owned())
    })
}

/// The way from one folder to another; both are absolute.
pub(crate) fn relative(to: &Path, from: &Path) -> PathBuf {
    let shared = to.components().zip(from.components()).take_while(|(to, from)| to == from).count();
    let up = from.components().skip(shared).map(|_| "..");
    up.map(PathBuf::from)
        .chain(to.components().skip(shared).map(|part| PathBuf::from(part.as_os_str())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkout() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    fn in_project(source: &Source, part: Part) -> String {
        source.dependency(part, Path::new("/p/kernels"), Path::new("/p")).unwrap().to_string()
    }

    #[test]
    fn sources_as_users_write_them() {
        let git = |url: &str, revision: Option<&str>| Source::Git {
            url: url.to_owned(),
            revision: revision.map(str::to_owned),
        };
        assert_eq!(Source::parse("registry").unwrap(), Source::Registry);
        assert_eq!(Source::parse("https://a.org/b#v1").unwrap(), git("https://a.org/b", Some("v1")));
        assert_eq!(Source::parse("git@a.org:b").unwrap(), git("git@a.org:b", None));
        let folder = checkout().to_str().unwrap();
        assert_eq!(Source::parse(folder).unwrap(), Source::Checkout(folder.into()));
        let error = Source::parse("/nowhere").unwrap_err().to_string();
        assert!(error.starts_with("`/nowhere` is not a source of gpukernel: give `registry`, "), "{error}");
    }

    #[test]
    fn each_source_has_dependencies_and_a_way_to_install() {
        let command = |source: &Source| source.install_command(Path::new("/p"), Path::new("/p")).unwrap();
        assert_eq!(in_project(&Source::Registry, RUNTIME), format!("{VERSION:?}"));
        assert_eq!(command(&Source::Registry), format!("cargo install --locked cargo-gpukernel@{VERSION}"));
        let git = Source::of_package_id("git+https://a.org/b?branch=main#0123");
        assert_eq!(in_project(&git, DEVICE_LIBRARY), r#"{ git = "https://a.org/b", rev = "0123" }"#);
        assert_eq!(command(&git), "cargo install --locked --git https://a.org/b --rev 0123 cargo-gpukernel");
        let here = Source::Checkout(checkout().to_owned());
        let folder = checkout().canonicalize().unwrap();
        assert_eq!(in_project(&here, BUILD), format!("{{ path = {:?} }}", folder.join("compiler")));
        assert!(command(&here).ends_with("/cargo-gpukernel"), "{}", command(&here));
    }

    #[test]
    fn a_checkout_in_the_project_is_a_relative_path() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for part in PARTS {
            fs::create_dir_all(root.join("vendored").join(part.folder)).unwrap();
        }
        let vendored = Source::Checkout(root.join("vendored"));
        let value = vendored.dependency(RUNTIME, &root.join("app/kernels"), &root).unwrap();
        assert_eq!(value.to_string(), r#"{ path = "../../vendored/runtime" }"#);
    }

    #[test]
    fn cargo_notes_where_it_installs_from() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("bin/cargo-gpukernel");
        assert_eq!(installed_from(&program), None);
        let notes = "[v1]\n\"other 1.0.0 (path+file:///x)\" = [\"other\"]\n\
                     \"cargo-gpukernel 0.1.0 (git+https://a.org/b#01)\" = [\"cargo-gpukernel\"]\n";
        fs::write(dir.path().join(".crates.toml"), notes).unwrap();
        assert_eq!(installed_from(&program).as_deref(), Some("git+https://a.org/b#01"));
        assert_eq!(installed_from(&dir.path().join("elsewhere/cargo-gpukernel")), None);
    }

    #[test]
    fn ways_between_folders() {
        let way = |to: &str, from: &str| relative(Path::new(to), Path::new(from)).display().to_string();
        assert_eq!(way("/a/b/c", "/a/x"), "../b/c");
        assert_eq!(way("/a/b", "/a"), "b");
        assert_eq!(way("/a", "/a/b/c"), "../..");
    }

    #[test]
    fn paths_in_commands_are_quoted() {
        assert_eq!(quoted("/a/b-c"), "/a/b-c");
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
    }
}
