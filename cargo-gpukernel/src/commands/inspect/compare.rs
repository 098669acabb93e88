//! What a kernel is compared with: another architecture, a saved inspection, a twin in CUDA C, a commit.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use gpukernel_build::{Arch, Inspection, Options, toolchain::Toolchain};

use super::{
    Crate,
    revision::{self, Checkout},
};
use crate::workspace::Workspace;

/// What a kernel is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Other {
    /// The same for another architecture.
    Arch(Arch),
    /// What `--json` has printed before.
    Saved(PathBuf),
    /// A kernel in CUDA C, by nvcc.
    CudaC {
        file: PathBuf,
        /// The name of the kernel there, if it is another one.
        name: Option<String>,
    },
    /// The same kernel at a commit, branch or tag of git.
    Revision(String),
}

impl Other {
    /// Reads `sm_80`, `before.json`, `twin.cu`, `twin.cu:saxpy`, `HEAD~1`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (file, name) = match text.rsplit_once(".cu:") {
            Some((file, name)) => (format!("{file}.cu"), Some(name.to_owned())),
            None => (text.to_owned(), None),
        };
        Ok(match text.parse() {
            Ok(arch) => Self::Arch(arch),
            Err(_) if text.is_empty() => return Err("nothing to compare with".to_owned()),
            Err(_) if text.ends_with(".json") => Self::Saved(text.into()),
            Err(_) if file.ends_with(".cu") => Self::CudaC { file: file.into(), name },
            Err(_) => Self::Revision(text.to_owned()),
        })
    }
}

/// Reads an inspection that was saved.
fn saved(file: &Path) -> anyhow::Result<Inspection> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| {
        format!(
            "{} is not what `cargo gpukernel inspect KERNEL --json` of this version prints",
            file.display()
        )
    })
}

/// [`Other`] as far as it is known without compiling.
pub(super) enum Comparison<'a> {
    Arch(Arch),
    Saved { file: &'a Path, inspection: Box<Inspection> },
    CudaC { file: &'a Path, name: Option<&'a str> },
    Revision { revision: &'a str, checkout: Checkout, manifest: PathBuf },
}

impl<'a> Comparison<'a> {
    /// Reads, finds or checks out what there is.
    pub(super) fn prepare(other: &'a Other, of: &Crate<'_>, workspace: &Workspace) -> anyhow::Result<Self> {
        Ok(match other {
            Other::Arch(arch) => Self::Arch(*arch),
            Other::Saved(file) => Self::Saved { inspection: Box::new(saved(file)?), file },
            Other::CudaC { file, name } => {
                anyhow::ensure!(file.is_file(), "there is no file {}", file.display());
                Self::CudaC { file, name: name.as_deref() }
            }
            Other::Revision(revision) => {
                let checkout = revision::checkout(workspace.root().as_std_path(), revision)?;
                let manifest = checkout.path_of(of.package.manifest_path.as_std_path())?;
                Self::Revision { revision, checkout, manifest }
            }
        })
    }

    /// What to call it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Arch(arch) => arch.to_string(),
            Self::Saved { file, .. } => file.display().to_string(),
            Self::CudaC { file, .. } => format!("nvcc {}", file.display()),
            Self::Revision { revision, .. } => (*revision).to_owned(),
        }
    }

    /// The code to compare `this` with.
    pub(super) fn run(
        self,
        of: &Crate<'_>,
        this: &Inspection,
        toolchain: &Toolchain,
    ) -> anyhow::Result<Inspection> {
        let mut input = of.to_look_at();
        match self {
            Self::Saved { inspection, .. } => Ok(*inspection),
            Self::Arch(arch) => {
                // One that the crate is not built for is built alone, as by `--arch`.
                if !input.options.archs.contains(&arch) {
                    input.options.archs = vec![arch];
                }
                Ok(gpukernel_build::inspect(&input, toolchain, &this.kernel, arch)?)
            }
            Self::CudaC { file, name } => {
                let bare = this.kernel.rsplit("::").next().unwrap_or(&this.kernel);
                let name = name.unwrap_or(bare);
                let threads = this.occupancy.as_ref().map_or(256, |occupancy| occupancy.threads_per_block);
                let twin = gpukernel_build::inspect_cuda_c(
                    file,
                    name,
                    this.arch,
                    threads,
                    &toolchain.cuda,
                    &of.dir,
                )?;
                Ok(twin)
            }
            Self::Revision { revision, checkout, manifest } => {
                // With the crate's settings of then.
                let then = Options::of_crate(&manifest)?;
                let is_for_arch = then.archs.contains(&this.arch);
                input.options.archs = if is_for_arch { then.archs } else { vec![this.arch] };
                (input.options.contraction, input.options.panics) = (then.contraction, then.panics);
                input.options.links = then.links;
                input.crate_path = manifest;
                input.out_dir = checkout.dir().join(".gpukernel-inspect");
                // Not where the crate of today is compiled: cargo would take the one for the other.
                input.target_dir = of.input.target_dir.join("inspect/commits");
                gpukernel_build::inspect(&input, toolchain, &this.kernel, this.arch)
                    .with_context(|| format!("cannot inspect the kernel at {revision}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_compare_with_is_known_by_its_form() {
        let parse = |text: &str| Other::parse(text).unwrap();
        assert_eq!(parse("sm_80"), Other::Arch(Arch::new(8, 0)));
        assert_eq!(parse("a/before.json"), Other::Saved("a/before.json".into()));
        assert_eq!(parse("a/twin.cu"), Other::CudaC { file: "a/twin.cu".into(), name: None });
        let name = Some("saxpy".to_owned());
        assert_eq!(parse("twin.cu:saxpy"), Other::CudaC { file: "twin.cu".into(), name });
        assert_eq!(parse("HEAD~1"), Other::Revision("HEAD~1".to_owned()));
        assert!(Other::parse("").is_err());
    }

    #[test]
    fn a_damaged_file_is_an_error_that_says_what_it_should_be() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("before.json");
        for damaged in ["", "{\"kernel\":", "[]"] {
            fs::write(&file, damaged).unwrap();
            let error = saved(&file).unwrap_err().to_string();
            assert!(error.contains("before.json is not what `cargo gpukernel inspect"), "{error}");
        }
        assert!(saved(&dir.path().join("none.json")).unwrap_err().to_string().starts_with("cannot read "));
    }
}
