//! clang: compiles CUDA C++ to bitcode that is optimised together with the kernels.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

use semver::Version;

use super::{Cache, FindOptions, Memo, Settings, ToolchainError, cache::visible_entries, recalled};

/// A clang that compiles CUDA C++.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Clang {
    /// The program.
    pub path: PathBuf,
    /// Its version, that of its LLVM.
    pub version: Version,
}

/// The first clang version that supports the architectures of kernels and whose bitcode is compatible with rustc's.
pub(crate) const MINIMUM_CLANG: u64 = 18;

impl Clang {
    /// Finds clang by `GPUKERNEL_CLANG`, `clang = "…"` in `gpukernel.toml`, in the installation of `cargo gpukernel setup --clang`, and then
    /// in `PATH`: `clang-22` and the like, newest first, and `clang`.
    ///
    /// LLVM reads the bitcode of older versions, not of newer ones: a clang of a later version than `newest`, the LLVM of the device
    /// rustc, is skipped.
    ///
    /// # Errors
    /// `GPUKERNEL_CLANG` or `gpukernel.toml` names a clang that does not qualify.
    pub fn find(options: &FindOptions<'_>, newest: u64) -> Result<Option<Self>, ToolchainError> {
        let environment = &options.environment;
        let ask = |path: &Path| Self::ask(path, options.memo.as_ref());
        let settings = Settings::load(&options.project_dir)?;
        let variable =
            environment.path("GPUKERNEL_CLANG").map(|path| ("GPUKERNEL_CLANG".to_owned(), path.to_owned()));
        let file = settings.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
        if let Some((setting, path)) = variable.or(settings.clang.map(|path| (file, path))) {
            let program = environment.which(path.as_os_str());
            let problem = match program.as_deref().and_then(ask) {
                None => "it cannot be run, or is no clang".to_owned(),
                Some(clang) if !clang.qualifies(newest) => format!(
                    "it is version {}, and the LLVM of the device rustc reads the bitcode of {MINIMUM_CLANG} to {newest}",
                    clang.version
                ),
                Some(clang) => return Ok(Some(clang)),
            };
            return Err(ToolchainError::NotAClang { setting, path, problem });
        }
        let kept = Cache::locate(environment).map(|cache| visible_entries(&cache.dir("clang")));
        let kept = kept.into_iter().flatten().rev().map(|dir| dir.join("bin/clang"));
        let numbered = (MINIMUM_CLANG..=newest).rev().map(|major| format!("clang-{major}"));
        let in_path =
            numbered.chain(["clang".to_owned()]).filter_map(|name| environment.which(OsStr::new(&name)));
        Ok(kept
            .filter(|path| path.is_file())
            .chain(in_path)
            .filter_map(|path| ask(&path))
            .find(|clang| clang.qualifies(newest)))
    }

    fn ask(path: &Path, memo: Option<&Memo>) -> Option<Self> {
        let text = recalled(memo, Command::new(path).arg("--version"), "--version").ok()?;
        Some(Self { path: path.to_owned(), version: parse_version(&text)? })
    }

    fn qualifies(&self, newest: u64) -> bool {
        (MINIMUM_CLANG..=newest).contains(&self.version.major)
    }
}

/// Reads `Debian clang version 22.1.8 (1~deb12u1)`.
fn parse_version(text: &str) -> Option<Version> {
    let (_, rest) = text.lines().next()?.split_once("clang version ")?;
    let number = rest.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    Version::parse(number).ok()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Environment, testing::program},
        *,
    };

    fn find(dir: &Path, environment: Environment) -> Result<Option<Clang>, ToolchainError> {
        let environment = environment.with("HOME", dir).with("GPUKERNEL_CACHE", dir.join("cache"));
        Clang::find(&FindOptions::new(dir).environment(environment), 22)
    }

    #[test]
    fn the_newest_that_llvm_can_read() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        for (name, version) in [("clang-19", "19.1.7"), ("clang-22", "22.1.8"), ("clang", "23.0.0")] {
            program(&bin.join(name), &format!("echo 'Debian clang version {version} (1~deb12u1)'"));
        }
        let found = find(dir.path(), Environment::default().with("PATH", &bin)).unwrap().unwrap();
        assert_eq!((found.path, found.version.major), (bin.join("clang-22"), 22));
        std::fs::remove_file(bin.join("clang-22")).unwrap();
        std::fs::remove_file(bin.join("clang-19")).unwrap();
        assert!(find(dir.path(), Environment::default().with("PATH", &bin)).unwrap().is_none());
        let error = find(dir.path(), Environment::default().with("GPUKERNEL_CLANG", bin.join("clang")));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("version 23.0.0") && error.contains("18 to 22"), "{error}");
    }
}
