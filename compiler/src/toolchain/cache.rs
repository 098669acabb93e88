//! The cache: a folder of files that are built or downloaded once per user.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

use super::{Environment, Progress, ToolchainError};

/// The user's cache directory.
///
/// It is `$GPUKERNEL_CACHE`, else `$XDG_CACHE_HOME/gpukernel`, else `~/.cache/gpukernel`:
///
/// ```text
/// downloads/              wheels and packages as fetched; NAME.part while incomplete. `--offline` reads here
/// sysroots/VERSION-KEY/   core, alloc and compiler_builtins for the device, one per rustc
/// probes/KEY              what a program said about itself, one per program
/// layouts/VERSION-KEY     an empty file per rustc that lays out panics as they are read
/// rustup/                 a RUSTUP_HOME of our own: toolchains/…
/// cargo/                  its CARGO_HOME
/// distribution/VERSION/   the distribution's rustc, unpacked: bin/rustc, usr/…, toolchain.toml
/// clang/VERSION/          the distribution's clang, likewise: bin/clang
/// apt/                    package lists and settings of our own for apt
/// cuda/VERSION/           NVIDIA's tools, laid out as in a CUDA toolkit
/// locks/                  one file per item that only one process at a time may create
/// ```
///
/// Items are created under a temporary name and renamed, so an existing name is complete. Names that begin with `.tmp` are leftovers of
/// interrupted work and are removed when it is repeated. (rustup manages its own folder: unfinished installations are detected and
/// repeated.)
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// Determines the cache from environment variables. Nothing is created.
    ///
    /// # Errors
    /// Neither `GPUKERNEL_CACHE` nor `XDG_CACHE_HOME` nor `HOME` is set.
    pub fn locate(environment: &Environment) -> Result<Self, ToolchainError> {
        let root = match environment.path("GPUKERNEL_CACHE") {
            Some(path) => std::path::absolute(path).map_err(|e| ToolchainError::io("resolve", path, e))?,
            None => match environment.path("XDG_CACHE_HOME").filter(|path| path.is_absolute()) {
                Some(path) => path.join("gpukernel"),
                None => environment
                    .home()
                    .ok_or(ToolchainError::NoCacheDirectory)?
                    .join(".cache")
                    .join("gpukernel"),
            },
        };
        Ok(Self { root })
    }

    /// Returns the cache in a folder. Nothing is created.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder of the cache.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of a folder in the cache, which may not exist.
    pub fn dir(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Returns a folder in the cache, creating it if it does not exist.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn make_dir(&self, name: &str) -> Result<PathBuf, ToolchainError> {
        let dir = self.dir(name);
        std::fs::create_dir_all(&dir).map_err(|e| ToolchainError::io("create", &dir, e))?;
        Ok(dir)
    }

    /// Acquires the lock of this name, waiting for other processes; released when the result is dropped.
    ///
    /// # Errors
    /// The lock file cannot be created or locked.
    pub fn lock(&self, name: &str, progress: &Progress<'_>) -> Result<CacheLock, ToolchainError> {
        let path = self.make_dir("locks")?.join(name);
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|e| ToolchainError::io("open", &path, e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                progress.note(&format!("waiting for another process that holds {}", path.display()));
                file.lock().map_err(|e| ToolchainError::io("lock", &path, e))?;
            }
            Err(TryLockError::Error(e)) => return Err(ToolchainError::io("lock", &path, e)),
        }
        Ok(CacheLock { _file: file })
    }

    /// The rustcs that `setup` keeps here, newest first by name.
    pub(crate) fn rustcs(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = [self.dir("rustup").join("toolchains"), self.dir("distribution")]
            .iter()
            .flat_map(|dir| visible_entries(dir))
            .map(|toolchain| toolchain.join("bin").join("rustc"))
            .filter(|rustc| rustc.is_file())
            .collect();
        found.reverse();
        found
    }
}

/// A lock of the cache, released on drop or when the process ends.
#[derive(Debug)]
#[must_use = "the lock is held until this is dropped"]
pub struct CacheLock {
    _file: File,
}

/// The entries of a folder without those that begin with a dot, sorted; none where it cannot be read.
pub(crate) fn visible_entries(dir: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_names_the_cache() {
        let environment = Environment::default().with("HOME", "/home/ada");
        assert_eq!(Cache::locate(&environment).unwrap().root(), Path::new("/home/ada/.cache/gpukernel"));
        let environment = environment.with("XDG_CACHE_HOME", "/var/cache/ada");
        assert_eq!(Cache::locate(&environment).unwrap().root(), Path::new("/var/cache/ada/gpukernel"));
        let environment = environment.with("GPUKERNEL_CACHE", "/elsewhere");
        assert_eq!(Cache::locate(&environment).unwrap().root(), Path::new("/elsewhere"));
    }

    #[test]
    fn without_a_home_the_error_names_the_variable() {
        let error = Cache::locate(&Environment::default()).unwrap_err();
        assert!(error.to_string().contains("set GPUKERNEL_CACHE"), "{error}");
    }

    #[test]
    fn a_lock_is_exclusive_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let held = cache.lock("thing", &Progress::silent()).unwrap();
        let second = File::open(dir.path().join("locks/thing")).unwrap();
        assert!(matches!(second.try_lock(), Err(TryLockError::WouldBlock)));
        drop(held);
        second.try_lock().unwrap();
    }
}
