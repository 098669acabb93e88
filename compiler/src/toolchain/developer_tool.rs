//! Tools that look at running kernels: compute-sanitizer, cuda-gdb and NVIDIA's profilers. No build needs them, and `setup` does not install them.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{CudaSource, FindOptions, Settings, ToolchainError, cuda};

/// A tool of NVIDIA's for running programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeveloperTool {
    /// compute-sanitizer, which checks accesses to memory and barriers on a GPU.
    ComputeSanitizer,
    /// cuda-gdb, the debugger.
    CudaGdb,
    /// ncu, Nsight Compute: profiles one kernel.
    Ncu,
    /// nsys, Nsight Systems: draws a timeline of a program.
    Nsys,
}

impl DeveloperTool {
    /// All tools.
    pub const ALL: [Self; 4] = [Self::ComputeSanitizer, Self::CudaGdb, Self::Ncu, Self::Nsys];

    /// The name of the program, such as `cuda-gdb`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ComputeSanitizer => "compute-sanitizer",
            Self::CudaGdb => "cuda-gdb",
            Self::Ncu => "ncu",
            Self::Nsys => "nsys",
        }
    }

    /// What it is for, as `doctor` says it.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::ComputeSanitizer => "checks kernels on a GPU",
            Self::CudaGdb => "debugs kernels on a GPU",
            Self::Ncu => "profiles kernels",
            Self::Nsys => "draws timelines of programs",
        }
    }

    /// How to get it. The package is that of NVIDIA's repository for Debian and Ubuntu.
    pub fn install(self) -> &'static str {
        match self {
            Self::ComputeSanitizer => {
                "install NVIDIA's CUDA toolkit, or of it `apt install cuda-sanitizer-13-0`"
            }
            Self::CudaGdb => "install NVIDIA's CUDA toolkit, or of it `apt install cuda-gdb-13-0`",
            Self::Ncu => "install NVIDIA's CUDA toolkit, or of it `apt install cuda-nsight-compute-13-0`",
            Self::Nsys => "install NVIDIA's CUDA toolkit, or of it `apt install cuda-nsight-systems-13-0`",
        }
    }

    /// Searches the CUDA toolkits that settings name, `PATH`, and then the other folders of [`CudaTools::find`](super::CudaTools::find); `None` if it is
    /// nowhere.
    ///
    /// # Errors
    /// `GPUKERNEL_CUDA` or `gpukernel.toml` names a folder without a toolkit.
    pub fn find(self, options: &FindOptions<'_>) -> Result<Option<PathBuf>, ToolchainError> {
        let settings = Settings::load(&options.project_dir)?;
        let roots = cuda::roots(&options.environment, &settings)?;
        let (named, others): (Vec<_>, Vec<_>) =
            roots.iter().partition(|(source, _)| matches!(source, CudaSource::Setting(_)));
        let in_toolkit = |roots: Vec<&(CudaSource, PathBuf)>| {
            roots.into_iter().find_map(|(_, root)| self.in_toolkit(root))
        };
        let on_path = || options.environment.which(self.name().as_ref());
        Ok(in_toolkit(named).or_else(on_path).or_else(|| in_toolkit(others)))
    }

    /// As [`find`](Self::find).
    ///
    /// # Errors
    /// As there, and if it is nowhere.
    pub fn require(self, options: &FindOptions<'_>) -> Result<PathBuf, ToolchainError> {
        self.find(options)?.ok_or(ToolchainError::DeveloperToolMissing { tool: self })
    }

    fn in_toolkit(self, root: &Path) -> Option<PathBuf> {
        let path = root.join("bin").join(self.name());
        path.is_file().then_some(path)
    }
}

impl fmt::Display for DeveloperTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Environment, testing::program},
        *,
    };

    #[test]
    fn toolkits_of_settings_come_before_path() {
        let dir = tempfile::tempdir().unwrap();
        let (toolkit, bin) = (dir.path().join("a toolkit"), dir.path().join("bin"));
        let environment = Environment::default().with("HOME", dir.path());
        let find = |environment: &Environment| {
            let options = FindOptions::new(dir.path()).environment(environment.clone());
            DeveloperTool::Ncu.find(&options).unwrap()
        };
        assert_eq!(find(&environment), None);
        let environment = environment.with("PATH", &bin);
        program(&bin.join("ncu"), "");
        assert_eq!(find(&environment), Some(bin.join("ncu")));
        program(&toolkit.join("bin/ncu"), "");
        program(&toolkit.join("bin/ptxas"), "");
        assert_eq!(find(&environment.with("GPUKERNEL_CUDA", &toolkit)), Some(toolkit.join("bin/ncu")));
    }

    #[test]
    fn a_missing_tool_is_an_error_that_says_where_it_comes_from() {
        let dir = tempfile::tempdir().unwrap();
        let environment = Environment::default().with("HOME", dir.path());
        let options = FindOptions::new(dir.path()).environment(environment);
        for tool in DeveloperTool::ALL {
            let error = tool.require(&options).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{tool} is needed")), "{error}");
            assert!(error.contains("apt install cuda-") && error.contains("GPUKERNEL_CUDA"), "{error}");
        }
    }
}
