//! The templates of `cargo gpukernel new`: the projects in the folder `templates/` of the repository, embedded in this program.
//!
//! `cargo package` leaves out folders with a `Cargo.toml`, and files outside of the package: the package's own folder `templates/` has links to
//! the files, to manifests under the name `Cargo.toml.in`.

use clap::{ValueEnum, builder::PossibleValue};

use crate::project::name;

/// A file: where it is in a project, and its text.
type File = (&'static str, &'static str);

/// What to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    /// Its name.
    pub(crate) name: &'static str,
    help: &'static str,
    /// The command to go on with.
    pub(crate) next: &'static str,
    files: &'static [File],
}

/// The name of the package in the templates, which the name of the project replaces.
const PLACEHOLDER: &str = "my-project";

/// A manifest, under the name that it has in this package.
const MANIFEST: &str = "Cargo.toml.in";

/// A `.gitignore` of a template, which git does not read through a link.
const IGNORED: &str = "gitignore.in";

macro_rules! files {
    ($folder:literal: $($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../templates/", $folder, "/", $path)))),*]
    };
}

/// Files of all projects that are no part of a workspace.
const COMMON: &[File] = files!("common": ".github/workflows/ci.yml" ".gitignore" ".vscode/extensions.json" ".vscode/settings.json");

/// What tests a program.
const TEST: &str = "cargo gpukernel test";

static TEMPLATES: [Template; 5] = [
    Template {
        name: "plain",
        help: "a program with a kernel, a test and a benchmark",
        next: TEST,
        files: files!("plain":
            "Cargo.toml.in" "benches/saxpy.rs" "build.rs" "kernels/Cargo.toml.in" "kernels/src/lib.rs" "src/main.rs" "tests/saxpy.rs"),
    },
    Template {
        name: "cuda-c",
        help: "a program whose kernel calls a function in CUDA C",
        next: TEST,
        files: files!("cuda-c":
            "Cargo.toml.in" "benches/softsign.rs" "build.rs" "cuda/softsign.cu" "gpukernel.toml" "kernels/Cargo.toml.in"
            "kernels/src/lib.rs" "src/main.rs" "tests/softsign.rs"),
    },
    Template {
        name: "library",
        help: "a library that launches kernels, with an example",
        next: TEST,
        files: files!("library":
            "Cargo.toml.in" "benches/saxpy.rs" "build.rs" "examples/saxpy.rs" "kernels/Cargo.toml.in" "kernels/build.rs" "kernels/src/lib.rs"
            "src/lib.rs"
            "tests/saxpy.rs"),
    },
    Template {
        name: "bench",
        help: "a program with a benchmark of its kernel beside a loop on the host",
        next: TEST,
        files: files!("bench":
            "Cargo.toml.in" "benches/saxpy.rs" "build.rs" "kernels/Cargo.toml.in" "kernels/src/lib.rs" "src/main.rs" "tests/saxpy.rs"),
    },
    Template {
        name: "python",
        help: "a Python package with functions of NumPy, CuPy and PyTorch arrays",
        next: "python3 -m venv .venv && .venv/bin/pip install \".[test]\" && .venv/bin/pytest",
        files: files!("python":
            ".github/workflows/ci.yml" "Cargo.toml.in" "build.rs" "gitignore.in" "kernels/Cargo.toml.in" "kernels/src/lib.rs" "pyproject.toml"
            "src/lib.rs" "tests/kernels.rs" "tests/test_arrays.py"),
    },
];

impl Template {
    /// The first one.
    pub(crate) fn plain() -> Self {
        TEMPLATES[0]
    }

    /// Its files for a project of this name, `Cargo.toml` among them; with those that only the root of a repository has, if it is one.
    pub(crate) fn files(self, project: &str, is_root: bool) -> impl Iterator<Item = (String, String)> {
        // A template may have its own in place of these.
        let path_of = |file: &File| match file.0 {
            IGNORED => ".gitignore",
            path => path,
        };
        let is_common = move |file: &File| COMMON.iter().any(|common| common.0 == path_of(file));
        let own = self.files.iter().filter(move |file| is_root || !is_common(file));
        let is_own = move |file: &File| self.files.iter().any(|own| path_of(own) == file.0);
        let common = COMMON.iter().filter(move |file| is_root && !is_own(file));
        let (project, library) = (project.to_owned(), name::library(project));
        own.chain(common).map(move |file @ (path, text)| {
            let path = match path.strip_suffix(MANIFEST) {
                Some(folder) => format!("{folder}Cargo.toml"),
                None => path_of(file).to_owned(),
            };
            (path, text.replace(PLACEHOLDER, &project).replace(&name::library(PLACEHOLDER), &library))
        })
    }

    /// One of its files for a project of this name.
    pub(crate) fn file(self, project: &str, wanted: &str) -> Option<String> {
        self.files(project, false).find(|(path, _)| path == wanted).map(|(_, text)| text)
    }
}

impl ValueEnum for Template {
    fn value_variants<'a>() -> &'a [Self] {
        &TEMPLATES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name).help(self.help))
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// The files below a folder, but for what cargo makes there.
    fn files_in(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            match entry.path().is_dir() {
                true if name == "target" => {}
                true => files_in(&entry.path(), &format!("{prefix}{name}/"), found),
                false if name == "Cargo.lock" => {}
                false => {
                    found.insert(format!("{prefix}{name}"));
                }
            }
        }
    }

    #[test]
    fn every_file_of_a_template_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../templates");
        let mut common = BTreeSet::new();
        files_in(&folder.join("common"), "", &mut common);
        for template in TEMPLATES {
            let mut expected = common.clone();
            files_in(&folder.join(template.name), "", &mut expected);
            let embedded: BTreeSet<_> = template.files(PLACEHOLDER, true).map(|(path, _)| path).collect();
            assert_eq!(embedded, expected, "{}", template.name);
        }
    }

    #[test]
    fn files_have_the_name_of_the_project() {
        for template in TEMPLATES {
            for (path, text) in template.files("ray-tracer", true) {
                assert!(!text.contains("my-project") && !text.contains("my_project"), "{path}: {text}");
            }
            let mut tests =
                template.files("ray-tracer", false).filter(|(path, _)| path.starts_with("tests/"));
            assert!(
                tests.all(|(_, text)| text.contains("use ray_tracer") || text.contains("import ray_tracer"))
            );
        }
    }
}
