//! Settings of a project in `gpukernel.toml`.
//!
//! ```toml
//! rustc = "/opt/rust-1.96/bin/rustc"   # the device rustc: a path, relative to this file, or a program's name
//! cuda = "/usr/local/cuda-13.0"        # the CUDA toolkit
//! clang = "clang-22"                   # the compiler of CUDA C++ whose calls inline: a path or a name, as above
//! needs = ["clang"]                    # what `cargo gpukernel setup` installs in addition for this project
//!
//! [[link]]                             # files with device functions in CUDA C: see `CudaSources`
//! files = ["cuda/filter.cu"]
//!
//! [budgets]                            # what a release build of kernels must not exceed: see `Budgets`
//! no_spills = true
//! ```

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ToolchainError;
use crate::{budgets::Budgets, foreign::CudaSources};

/// The name of the file.
const FILE: &str = "gpukernel.toml";

/// The settings of a `gpukernel.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// The device rustc: a path, or a program's name to search in `PATH`.
    pub rustc: Option<PathBuf>,
    /// The folder of the CUDA toolkit.
    pub cuda: Option<PathBuf>,
    /// clang: a path, or a program's name to search in `PATH`.
    pub clang: Option<PathBuf>,
    /// The files to link with kernel crates.
    pub links: Vec<CudaSources>,
    /// Optional parts that `setup` installs for this project.
    pub needs: Vec<Need>,
    /// What kernels must not exceed.
    pub budgets: Budgets,
}

/// An optional part of the toolchain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Need {
    /// clang, for CUDA C functions that are inlined.
    Clang,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    rustc: Option<PathBuf>,
    cuda: Option<PathBuf>,
    clang: Option<PathBuf>,
    #[serde(default, rename = "link")]
    links: Vec<CudaSources>,
    #[serde(default)]
    needs: Vec<Need>,
    #[serde(default)]
    budgets: Budgets,
}

impl Settings {
    /// Reads the `gpukernel.toml` of the project in this folder: the first one from there upward.
    ///
    /// # Errors
    /// The file cannot be read or has an unknown key.
    pub fn load(project_dir: &Path) -> Result<Self, ToolchainError> {
        let start =
            std::path::absolute(project_dir).map_err(|e| ToolchainError::io("resolve", project_dir, e))?;
        let Some(file) = start.ancestors().map(|dir| dir.join(FILE)).find(|file| file.is_file()) else {
            return Ok(Self::default());
        };
        let text = std::fs::read_to_string(&file).map_err(|e| ToolchainError::io("read", &file, e))?;
        let content: Content = toml::from_str(&text)
            .map_err(|reason| ToolchainError::Settings { file: file.clone(), reason: Box::new(reason) })?;
        let base = file.parent().unwrap_or(&start).to_owned();
        // A name without a folder is a program in PATH, as on a command line.
        let program = |path: PathBuf| if path.components().count() > 1 { base.join(path) } else { path };
        Ok(Self {
            rustc: content.rustc.map(program),
            cuda: content.cuda.map(|path| base.join(path)),
            clang: content.clang.map(program),
            links: content.links.into_iter().map(|link| link.relative_to(&base)).collect(),
            needs: content.needs,
            budgets: Budgets { file: Some(file.clone()), ..content.budgets },
            file: Some(file),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(text: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), text).unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        dir
    }

    #[test]
    fn found_upward_and_relative_to_the_file() {
        let dir = project("rustc = \"tools/rustc\"\ncuda = \"/opt/cuda\"\n");
        let settings = Settings::load(&dir.path().join("a/b")).unwrap();
        assert_eq!(settings.rustc, Some(dir.path().join("tools/rustc")));
        assert_eq!(settings.cuda, Some(PathBuf::from("/opt/cuda")));
    }

    #[test]
    fn a_bare_name_stays_one() {
        let dir = project("rustc = \"rustc-1.96\"\n");
        assert_eq!(Settings::load(dir.path()).unwrap().rustc, Some(PathBuf::from("rustc-1.96")));
    }

    #[test]
    fn budgets_know_their_file() {
        let dir = project("[budgets]\nno_spills = true\nmax_registers = 64\n");
        let budgets = Settings::load(&dir.path().join("a")).unwrap().budgets;
        assert!(budgets.no_spills && !budgets.no_panics);
        assert_eq!((budgets.max_registers, budgets.file), (Some(64), Some(dir.path().join(FILE))));
    }

    #[test]
    fn an_unknown_budget_is_an_error_that_lists_those_that_there_are() {
        let dir = project("[budgets]\nno_spill = true\n");
        let error = Settings::load(dir.path()).unwrap_err().to_string();
        let said = ["gpukernel.toml", "`no_spill`", "`no_spills`", "`no_f64`", "`max_registers`"];
        assert!(said.iter().all(|part| error.contains(part)), "{error}");
    }

    #[test]
    fn a_misspelt_key_is_an_error_that_names_file_and_key() {
        let dir = project("rustcc = \"x\"\n");
        let error = Settings::load(dir.path()).unwrap_err().to_string();
        assert!(error.contains("gpukernel.toml") && error.contains("rustcc"), "{error}");
    }
}
