//! The journal of changes: what is needed to undo them.
//!
//! New files and copies of the old ones are written to a folder of their own, with a list. Once that folder has the journal's name, files are put in
//! place one by one; at the end it is removed. Whoever finds a journal whose owner is gone puts everything back: the owner holds a lock on a file in
//! it.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::project::changes::Change;

/// The folder, in that which the changes are made in.
const FOLDER: &str = ".gpukernel-journal";
/// What the names of all folders begin with.
const PREFIX: &str = ".gpukernel-";
/// The file in it with the [`Entry`]s.
const LIST: &str = "list.json";
/// The file in it that is locked.
const LOCK: &str = "lock";

/// A journal that this process owns.
#[derive(Debug)]
pub(super) struct Journal {
    root: PathBuf,
    _lock: File,
}

/// What the journal says of one file. By its number, `NUMBER.new` is the new file until it is put in place, and `NUMBER.old` a copy of the old one.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    path: PathBuf,
    existed: bool,
    /// The folders that are made for it, outermost first.
    folders: Vec<PathBuf>,
}

impl Journal {
    /// Writes the journal of these changes; waits for other processes that change files there.
    pub(super) fn begin(root: &Path, files: &BTreeMap<PathBuf, Change>) -> anyhow::Result<Self> {
        let cannot = || format!("cannot write in {}", root.display());
        sweep(root).with_context(cannot)?;
        let (folder, lock) = locked_folder(root).with_context(cannot)?;
        let mut entries: Vec<Entry> = Vec::new();
        for (number, (path, change)) in files.iter().enumerate() {
            let staged = folder.path().join(format!("{number}.new"));
            fs::write(&staged, &change.new).with_context(cannot)?;
            if let Some(old) = &change.old {
                let copy = folder.path().join(format!("{number}.old"));
                fs::write(&copy, old).with_context(cannot)?;
                let permissions = fs::metadata(path)
                    .with_context(|| format!("cannot read {}", path.display()))?
                    .permissions();
                for file in [staged, copy] {
                    fs::set_permissions(file, permissions.clone()).with_context(cannot)?;
                }
            }
            let is_made =
                |folder: &Path| entries.iter().any(|entry| entry.folders.iter().any(|made| made == folder));
            let missing = path.ancestors().skip(1).take_while(|folder| !folder.exists() && !is_made(folder));
            let mut folders: Vec<PathBuf> = missing.map(Path::to_owned).collect();
            folders.reverse();
            entries.push(Entry { path: path.clone(), existed: change.old.is_some(), folders });
        }
        fs::write(folder.path().join(LIST), serde_json::to_vec(&entries)?).with_context(cannot)?;
        // What the journal promises must not be lost with the power.
        for entry in fs::read_dir(folder.path()).with_context(cannot)? {
            File::open(entry?.path())?.sync_all().with_context(cannot)?;
        }
        // Over another one, it would not be empty.
        while let Err(error) = fs::rename(folder.path(), root.join(FOLDER)) {
            match error.kind() {
                ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists => settle(root)?,
                _ => return Err(error).with_context(cannot),
            }
        }
        // It is not there any more.
        let _ = folder.keep();
        Ok(Self { root: root.to_owned(), _lock: lock })
    }

    /// Puts a file in place.
    pub(super) fn put_in_place(&self, number: usize, path: &Path) -> anyhow::Result<()> {
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
        fs::rename(self.root.join(FOLDER).join(format!("{number}.new")), path)
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Removes the journal: all changes are made.
    pub(super) fn end(self) -> anyhow::Result<()> {
        remove(&self.root).with_context(|| format!("cannot remove {}", self.root.join(FOLDER).display()))
    }

    /// Puts everything back.
    pub(super) fn undo(self) -> anyhow::Result<()> {
        undo(&self.root)
    }
}

/// Makes a folder for a journal to be, with its lock.
fn locked_folder(root: &Path) -> io::Result<(TempDir, File)> {
    loop {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?;
        let path = folder.path().join(LOCK);
        let lock = File::create(&path)?;
        lock.lock()?;
        // Unless another process has swept it before it was locked.
        if is_at(&lock, &path) {
            return Ok((folder, lock));
        }
    }
}

/// Removes what processes that were killed before they had a journal, or after, have left behind.
fn sweep(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let is_ours =
            entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX) && name != FOLDER);
        if is_ours && File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok()) {
            ignore_missing(fs::remove_dir_all(entry.path()))?;
        }
    }
    Ok(())
}

/// Whether the file is the one at this path.
fn is_at(file: &File, path: &Path) -> bool {
    let place = |file: fs::Metadata| (file.dev(), file.ino());
    fs::metadata(path).is_ok_and(|there| file.metadata().is_ok_and(|file| place(file) == place(there)))
}

/// Waits for the owner of the journal in a folder, if there is one, and undoes what it says if the owner has left it behind.
pub(super) fn settle(root: &Path) -> anyhow::Result<()> {
    let path = root.join(FOLDER).join(LOCK);
    loop {
        let lock = match File::open(&path) {
            Ok(lock) => lock,
            Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
                return Ok(());
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        lock.lock().with_context(|| format!("cannot lock {}", path.display()))?;
        // Or its owner has ended it meanwhile, and perhaps another has begun one.
        if is_at(&lock, &path) {
            return undo(root);
        }
    }
}

/// Puts back what the journal has copies of, and removes what was not there.
fn undo(root: &Path) -> anyhow::Result<()> {
    let undone = || -> anyhow::Result<()> {
        let folder = root.join(FOLDER);
        let entries: Vec<Entry> = serde_json::from_slice(&fs::read(folder.join(LIST))?)?;
        for (number, entry) in entries.iter().enumerate().rev() {
            // Files are ours once the new one is not in the journal any more.
            let is_ours = !folder.join(format!("{number}.new")).exists();
            match entry.existed {
                true if is_ours => {
                    // A copy of the copy, in case that this is ended in the middle as well.
                    let back = folder.join(format!("{number}.back"));
                    fs::copy(folder.join(format!("{number}.old")), &back)?;
                    fs::rename(back, &entry.path)?;
                }
                false if is_ours => ignore_missing(fs::remove_file(&entry.path))?,
                _ => {}
            }
            for folder in entry.folders.iter().rev() {
                // With something else in it by now, it stays.
                let _ = fs::remove_dir(folder);
            }
        }
        Ok(remove(root)?)
    };
    undone().with_context(|| {
        format!(
            "files below {} are half changed and cannot be put back: {FOLDER} there has copies",
            root.display()
        )
    })
}

/// Removes the journal, all of it at once as far as [`settle`] is concerned.
fn remove(root: &Path) -> io::Result<()> {
    let done =
        tempfile::Builder::new().prefix(PREFIX).make_in(root, |path| fs::rename(root.join(FOLDER), path))?;
    fs::remove_dir_all(done.into_temp_path().keep().map_err(|error| error.error)?)
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let (used, lock) = locked_folder(dir.path()).unwrap();
        let (left, _) = locked_folder(dir.path()).unwrap();
        let left = left.keep();
        sweep(dir.path()).unwrap();
        assert!(used.path().exists() && !left.exists());
        drop(lock);
    }
}
