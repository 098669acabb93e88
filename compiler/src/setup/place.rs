//! Place: putting a finished folder under its name, so that the name never shows an unfinished one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::SetupError;
use crate::toolchain::ToolchainError;

/// A folder in the making. What interrupted work left under the same temporary name is removed first.
#[derive(Debug)]
pub(super) struct Unfinished {
    temporary: PathBuf,
    target: PathBuf,
}

impl Unfinished {
    /// Begins a folder that will be `parent/name`.
    pub(super) fn begin(parent: &Path, name: &str) -> Result<Self, SetupError> {
        let temporary = parent.join(format!(".tmp-{name}"));
        remove_dir(&temporary)?;
        fs::create_dir_all(&temporary).map_err(|e| ToolchainError::io("create", &temporary, e))?;
        Ok(Self { temporary, target: parent.join(name) })
    }

    /// Where it is now.
    pub(super) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Puts it under its name, in the place of what is there.
    pub(super) fn finish(self) -> Result<PathBuf, SetupError> {
        let Self { temporary, target } = self;
        if target.exists() {
            let old = temporary.with_extension("old");
            remove_dir(&old)?;
            fs::rename(&target, &old).map_err(|e| ToolchainError::io("rename", &target, e))?;
            fs::rename(&temporary, &target).map_err(|e| ToolchainError::io("rename", &temporary, e))?;
            remove_dir(&old)?;
        } else {
            fs::rename(&temporary, &target).map_err(|e| ToolchainError::io("rename", &temporary, e))?;
        }
        Ok(target)
    }
}

/// Removes a folder if it is there.
pub(super) fn remove_dir(dir: &Path) -> Result<(), SetupError> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ToolchainError::io("remove", dir, error).into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_what_is_there_and_what_was_left() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".tmp-a/half")).unwrap();
        fs::create_dir_all(dir.path().join("a/old")).unwrap();
        let unfinished = Unfinished::begin(dir.path(), "a").unwrap();
        assert!(!unfinished.path().join("half").exists());
        fs::write(unfinished.path().join("new"), "").unwrap();
        let target = unfinished.finish().unwrap();
        assert!(target.join("new").exists() && !target.join("old").exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
