//! Environment variables that affect the search for a toolchain, as a value, so that tests need not change those of the process.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// A set of environment variables.
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The variables of this process.
    pub fn process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// Returns the value of a variable; an empty one counts as unset.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Returns the value of a variable as a path.
    pub fn path(&self, name: &str) -> Option<&Path> {
        self.get(name).map(Path::new)
    }

    /// The user's home directory.
    pub fn home(&self) -> Option<&Path> {
        self.path("HOME")
    }

    /// Resolves a program name or path as a shell does.
    pub fn which(&self, program: &OsStr) -> Option<PathBuf> {
        let path = Path::new(program);
        if path.components().count() > 1 {
            return is_executable(path).then(|| path.to_owned());
        }
        let search = self.get("PATH")?;
        std::env::split_paths(search).map(|dir| dir.join(program)).find(|file| is_executable(file))
    }
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_unset() {
        let environment = Environment::default().with("GPUKERNEL_RUSTC", "");
        assert_eq!(environment.get("GPUKERNEL_RUSTC"), None);
    }

    #[test]
    fn a_name_is_searched_in_path_and_a_path_is_taken_as_it_is() {
        let environment = Environment::default().with("PATH", "/nowhere:/bin");
        assert_eq!(environment.which(OsStr::new("sh")), Some(PathBuf::from("/bin/sh")));
        assert_eq!(environment.which(OsStr::new("/bin/sh")), Some(PathBuf::from("/bin/sh")));
        assert_eq!(environment.which(OsStr::new("/etc/passwd")), None, "not executable");
        assert_eq!(environment.which(OsStr::new("no-such-program")), None);
    }
}
