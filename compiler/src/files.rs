//! Files that appear complete or not at all, however a build ends, and builds that take turns in a folder.

use std::{
    ffi::OsString,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    process,
};

use crate::Error;

/// Writes a file: under another name first.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    make(path, |unfinished| {
        fs::write(unfinished, bytes).map_err(|reason| Error::File { path: path.to_owned(), reason })
    })
}

/// Has a file made under another name in the same folder, and puts it in place.
pub(crate) fn make(path: &Path, make: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    // Of this process alone, with the extension, by which some tools know what to make.
    let mut name = OsString::from(format!(".{}.", process::id()));
    name.push(path.file_name().unwrap_or_default());
    let unfinished = path.with_file_name(name);
    let made = make(&unfinished).and_then(|()| {
        fs::rename(&unfinished, path).map_err(|reason| Error::File { path: path.to_owned(), reason })
    });
    if made.is_err() {
        drop(fs::remove_file(&unfinished));
    }
    made
}

/// The folder of a build, which no other one uses meanwhile.
#[derive(Debug)]
pub(crate) struct OutDir {
    /// For files on the way to others.
    work: PathBuf,
    _lock: File,
}

impl OutDir {
    /// Makes the folder; waits for the process that builds there, if there is one.
    pub(crate) fn enter(dir: &Path, is_quiet: bool) -> Result<Self, Error> {
        let failed = |reason| Error::File { path: dir.to_owned(), reason };
        fs::create_dir_all(dir).map_err(failed)?;
        let lock = File::options().create(true).append(true).open(dir.join(".lock")).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                if !is_quiet {
                    // In cargo's words and form.
                    eprintln!("    Blocking waiting for another build in {}", dir.display());
                }
                lock.lock().map_err(failed)?;
            }
            Err(TryLockError::Error(reason)) => return Err(failed(reason)),
        }
        sweep(dir).map_err(failed)?;
        let work = work_dir(dir);
        fs::create_dir_all(&work).map_err(failed)?;
        Ok(Self { work, _lock: lock })
    }

    /// Removes what was on the way to other files. After an error, it stays to be looked at, until the next build.
    pub(crate) fn leave(self) {
        drop(fs::remove_dir_all(&self.work));
    }
}

/// The folder for files on the way to others.
pub(crate) fn work_dir(out_dir: &Path) -> PathBuf {
    out_dir.join(".work")
}

/// Removes what builds that were killed have left there.
fn sweep(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_unfinished = name
            .to_str()
            .and_then(|name| name.strip_prefix('.')?.split_once('.'))
            .is_some_and(|(id, _)| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()));
        if is_unfinished {
            fs::remove_file(entry.path())?;
        }
    }
    match fs::remove_dir_all(work_dir(dir)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_cannot_be_made_leaves_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("größe.ptx");
        write(&path, "old").unwrap();
        let failing = make(&path, |unfinished| {
            fs::write(unfinished, "half").unwrap();
            assert_eq!(unfinished.extension(), path.extension());
            assert_eq!(fs::read_to_string(&path).unwrap(), "old");
            Err(Error::Options("no".to_owned()))
        });
        assert!(failing.is_err());
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(dir.path()).len()), ("old", 1));
    }

    #[test]
    fn what_a_killed_build_left_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".work")).unwrap();
        for name in [".work/a.ptx", ".1234.a.cubin", "a.cubin", ".hidden"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let entered = OutDir::enter(dir.path(), true).unwrap();
        assert_eq!(names(dir.path()), [".hidden", ".lock", ".work", "a.cubin"]);
        assert!(names(&dir.path().join(".work")).is_empty());
        entered.leave();
        assert_eq!(names(dir.path()), [".hidden", ".lock", "a.cubin"]);
    }

    #[test]
    fn builds_in_one_folder_take_turns() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let entered = OutDir::enter(dir.path(), true).unwrap();
                    let file = work_dir(dir.path()).join("file");
                    // Alone: it is there for none of the others.
                    File::create_new(&file).unwrap();
                    fs::remove_file(&file).unwrap();
                    entered.leave();
                });
            }
        });
    }
}
