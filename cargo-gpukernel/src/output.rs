//! Files and folders for the user that appear complete or not at all, however the program ends.

use std::{
    ffi::OsString,
    fs, io,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use anyhow::Context;
use tempfile::{Builder, TempDir};

use crate::interrupt::Deferred;

/// Writes a file: under another name in the same folder first. What is no ordinary file, such as `/dev/stdout`, is written as it is.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let write = || -> anyhow::Result<()> {
        // Through a link, what it leads to is written.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let old = target.metadata().ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            return Ok(fs::write(&target, bytes)?);
        }
        let signals = Deferred::begin()?;
        let folder = folder_of(&target);
        // As any program makes files, but for what the user's mask takes.
        let mode = old.map_or(0o666, |old| old.permissions().mode());
        let mut file = Builder::new()
            .prefix(&unfinished(&target))
            .permissions(fs::Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        file.write_all(bytes.as_ref())?;
        signals.check()?;
        file.persist(&target)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// What the names of files on the way to this one begin with.
fn unfinished(target: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".");
    name
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A folder on its way to its place.
#[derive(Debug)]
pub(crate) struct Folder {
    target: PathBuf,
    // Removed before signals end the program again.
    unfinished: TempDir,
    signals: Deferred,
}

impl Folder {
    /// Makes it under another name, beside its place.
    pub(crate) fn begin(target: &Path) -> anyhow::Result<Self> {
        let begin = || -> io::Result<Self> {
            let signals = Deferred::begin()?;
            // Through a link, what it leads to is replaced.
            let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
            let parent = folder_of(&target);
            fs::create_dir_all(parent)?;
            let unfinished = Builder::new()
                .prefix(&unfinished(&target))
                .permissions(fs::Permissions::from_mode(0o777))
                .tempdir_in(parent)?;
            Ok(Self { target, unfinished, signals })
        };
        begin().with_context(|| format!("cannot make {}", target.display()))
    }

    /// Where it is until it is complete.
    pub(crate) fn path(&self) -> &Path {
        self.unfinished.path()
    }

    /// Fails if the user wants the program to end; the folder is gone then.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.signals.check()
    }

    /// Puts it in its place, instead of what is there.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        self.check()?;
        let Self { target, unfinished, signals } = self;
        let finish = || -> io::Result<()> {
            if !target.exists() {
                fs::rename(unfinished.path(), &target)?;
                return Ok(());
            }
            // The old one aside first: a folder takes the place of an empty one only.
            let old = Builder::new().prefix(&self::unfinished(&target)).tempdir_in(folder_of(&target))?;
            let aside = old.path().join("old");
            fs::rename(&target, &aside)?;
            if let Err(error) = fs::rename(unfinished.path(), &target) {
                fs::rename(&aside, &target)?;
                return Err(error);
            }
            Ok(())
        };
        let finished = finish();
        // Under its old name, there is nothing to remove.
        drop(unfinished);
        drop(signals);
        finished.with_context(|| format!("cannot put {} in its place", target.display()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_replaced_with_what_they_were() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("größe"), dir.path().join("link"));
        write(&file, "first").unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o600, 0o600);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("größe", &link).unwrap();
        write(&link, "second").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "second");
        assert!(link.is_symlink() && file.metadata().unwrap().mode() & 0o777 == 0o640);
        assert_eq!(names(dir.path()), ["größe", "link"]);
        write(Path::new("/dev/null"), "nothing").unwrap();
        assert!(!Path::new("/dev/null").is_file());
        let error = write(&file.join("below"), "").unwrap_err().to_string();
        assert!(error.starts_with("cannot write ") && error.ends_with("größe/below"), "{error}");
    }

    #[test]
    fn folders_appear_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a/bundle");
        for round in ["first", "second"] {
            let folder = Folder::begin(&target).unwrap();
            fs::write(folder.path().join(round), "").unwrap();
            assert!(!target.join(round).exists());
            folder.finish().unwrap();
            assert_eq!(names(&target), [round]);
        }
        let folder = Folder::begin(&target).unwrap();
        fs::write(folder.path().join("third"), "").unwrap();
        drop(folder);
        assert_eq!(names(&target), ["second"]);
        assert_eq!(names(&dir.path().join("a")), ["bundle"]);
    }
}
