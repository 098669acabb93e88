//! Changes of a project's files that are made together or not at all.
//!
//! New contents are written to files of their own first. Then a *journal* says what is about to change, with copies of what was there, and the files
//! are put in place one by one. If that fails, or if a signal comes meanwhile, all is put back; what ends the process at once leaves the journal,
//! from which the next run puts it back.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use similar::TextDiff;

/// The folder of the journal, in the folder that the changes are made in.
const JOURNAL: &str = ".gpukernel-journal";
/// The list in the journal.
const LIST: &str = "list.json";

/// Files to be written.
#[derive(Debug)]
pub(crate) struct Changes {
    /// What all of them are in, or beside: the root of a workspace.
    root: PathBuf,
    /// The new text by path, and the old one.
    files: BTreeMap<PathBuf, Change>,
}

#[derive(Debug)]
struct Change {
    old: Option<String>,
    new: String,
}

/// What the journal says of one file. Its copy is called `NUMBER.old`.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    path: PathBuf,
    existed: bool,
    /// The folders that are made for it, outermost first.
    folders: Vec<PathBuf>,
}

impl Changes {
    /// None yet, below this folder, which exists. If a run before was ended in the middle of its changes there, they are undone first.
    pub(crate) fn below(root: &Path) -> anyhow::Result<Self> {
        if root.join(JOURNAL).exists() {
            undo(root).with_context(|| {
                format!(
                    "cannot undo what an interrupted run changed in {}: see {JOURNAL} there",
                    root.display()
                )
            })?;
        }
        Ok(Self { root: root.to_owned(), files: BTreeMap::new() })
    }

    /// The text of a file with what is to change in it; `None` if there is none.
    pub(crate) fn read(&self, path: &Path) -> anyhow::Result<Option<String>> {
        if let Some(change) = self.files.get(path) {
            return Ok(Some(change.new.clone()));
        }
        match fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            // The latter below a file, where a folder cannot be made.
            Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => {
                Ok(None)
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Sets the text of a file.
    pub(crate) fn write(&mut self, path: PathBuf, new: String) -> anyhow::Result<()> {
        let old = match self.files.remove(&path) {
            Some(change) => change.old,
            None => self.read(&path)?,
        };
        if old.as_ref() != Some(&new) {
            self.files.insert(path, Change { old, new });
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The files that will be created.
    pub(crate) fn created(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter(|(_, change)| change.old.is_none()).map(|(path, _)| path.as_path())
    }

    /// The files that will be changed, each with the difference as a unified diff.
    pub(crate) fn changed(&self) -> impl Iterator<Item = (&Path, String)> {
        self.files.iter().filter_map(|(path, change)| {
            let old = change.old.as_ref()?;
            let shown = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
            let diff = TextDiff::from_lines(old.as_str(), change.new.as_str());
            Some((path.as_path(), diff.unified_diff().header(&shown, &shown).to_string()))
        })
    }

    /// Makes the changes.
    ///
    /// # Errors
    /// A file cannot be written, or a signal came: nothing is changed then.
    pub(crate) fn make(self) -> anyhow::Result<()> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, interrupted.clone())?;
        }
        self.make_until(|_| interrupted.load(Ordering::Relaxed))
    }

    /// Makes the changes, unless it is interrupted before one of them, counted from 0.
    fn make_until(self, is_interrupted: impl Fn(usize) -> bool) -> anyhow::Result<()> {
        let result = self.stage().and_then(|()| self.put_in_place(is_interrupted));
        match result {
            Ok(()) => Ok(()),
            Err(error) if self.root.join(JOURNAL).exists() => match undo(&self.root) {
                Ok(()) => Err(error.context("nothing was changed")),
                Err(undoing) => Err(error.context(format!(
                    "some files are changed, and cannot be put back ({undoing}): their copies are in {}",
                    self.root.join(JOURNAL).display()
                ))),
            },
            Err(error) => Err(error.context("nothing was changed")),
        }
    }

    /// Writes the journal, with the new files and copies of the old ones. It counts once it has its name.
    fn stage(&self) -> anyhow::Result<()> {
        let cannot = || format!("cannot write in {}", self.root.display());
        let folder =
            tempfile::Builder::new().prefix(".gpukernel-").tempdir_in(&self.root).with_context(cannot)?;
        let mut entries: Vec<Entry> = Vec::new();
        for (number, (path, change)) in self.files.iter().enumerate() {
            let staged = folder.path().join(format!("{number}.new"));
            fs::write(&staged, &change.new).with_context(cannot)?;
            if change.old.is_some() {
                // With its permissions.
                fs::copy(path, folder.path().join(format!("{number}.old"))).with_context(cannot)?;
                fs::set_permissions(&staged, fs::metadata(path)?.permissions()).with_context(cannot)?;
            }
            let is_made =
                |folder: &Path| entries.iter().any(|entry| entry.folders.iter().any(|made| made == folder));
            let mut folders: Vec<PathBuf> = path
                .ancestors()
                .skip(1)
                .take_while(|folder| !folder.exists() && !is_made(folder))
                .map(Path::to_owned)
                .collect();
            folders.reverse();
            entries.push(Entry { path: path.clone(), existed: change.old.is_some(), folders });
        }
        fs::write(folder.path().join(LIST), serde_json::to_vec(&entries)?).with_context(cannot)?;
        // What the journal promises must not be lost with the power.
        for entry in fs::read_dir(folder.path()).with_context(cannot)? {
            fs::File::open(entry?.path())?.sync_all().with_context(cannot)?;
        }
        let journal = self.root.join(JOURNAL);
        fs::rename(folder.path(), &journal)
            .with_context(|| format!("cannot create {}", journal.display()))?;
        // It is not there any more.
        let _ = folder.keep();
        Ok(())
    }

    fn put_in_place(&self, is_interrupted: impl Fn(usize) -> bool) -> anyhow::Result<()> {
        let journal = self.root.join(JOURNAL);
        for (number, path) in self.files.keys().enumerate() {
            if is_interrupted(number) {
                bail!("interrupted");
            }
            let folder = path.parent().unwrap_or(&self.root);
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create the folder {}", folder.display()))?;
            fs::rename(journal.join(format!("{number}.new")), path)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        remove(&self.root).with_context(|| format!("cannot remove {}", journal.display()))
    }
}

/// Undoes what a run that was ended in the middle changed in one of the folders above a path.
pub(crate) fn recover_above(path: &Path) -> anyhow::Result<()> {
    let folders = path.ancestors().skip(1).filter(|folder| folder.join(JOURNAL).exists());
    folders.map(Path::to_owned).try_for_each(|folder| Changes::below(&folder).map(|_| ()))
}

/// Puts back what the journal has copies of, and removes what was not there.
fn undo(root: &Path) -> anyhow::Result<()> {
    let journal = root.join(JOURNAL);
    let entries: Vec<Entry> = serde_json::from_slice(&fs::read(journal.join(LIST))?)?;
    for (number, entry) in entries.iter().enumerate().rev() {
        let is_staged = journal.join(format!("{number}.new")).exists();
        match entry.existed {
            true => {
                // A copy of the copy, in case that this is interrupted as well.
                let back = journal.join(format!("{number}.back"));
                fs::copy(journal.join(format!("{number}.old")), &back)?;
                fs::rename(back, &entry.path)?;
            }
            // What is there is not ours if ours is still in the journal.
            false if is_staged => {}
            false => ignore_missing(fs::remove_file(&entry.path))?,
        }
        for folder in entry.folders.iter().rev() {
            // With something else in it by now, it stays.
            let _ = fs::remove_dir(folder);
        }
    }
    Ok(remove(root)?)
}

/// Removes the journal, all of it at once as far as [`undo`] is concerned.
fn remove(root: &Path) -> io::Result<()> {
    let done = tempfile::Builder::new().prefix(".gpukernel-").tempdir_in(root)?;
    fs::rename(root.join(JOURNAL), done.path())?;
    done.close()
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// One file is changed, three are created, two of them in new folders.
    fn project() -> (TempDir, Changes) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("Cargo.toml"), "old\n").unwrap();
        let mut changes = Changes::below(dir.path()).unwrap();
        for path in ["Cargo.toml", "build.rs", "kernels/Cargo.toml", "kernels/src/lib.rs"] {
            changes.write(dir.path().join(path), format!("new {path}\n")).unwrap();
        }
        (dir, changes)
    }

    /// All files with their text.
    fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.read_dir().unwrap().next().is_none() => {
                    files.insert(path, "empty".to_owned());
                }
                true => files.extend(tree(&path)),
                false => {
                    files.insert(path.clone(), fs::read_to_string(&path).unwrap());
                }
            }
        }
        files
    }

    #[test]
    fn all_changes_are_made() {
        let (dir, changes) = project();
        assert_eq!(changes.created().count(), 3);
        let diffs: Vec<_> = changes.changed().map(|(_, diff)| diff).collect();
        assert_eq!(diffs, ["--- Cargo.toml\n+++ Cargo.toml\n@@ -1 +1 @@\n-old\n+new Cargo.toml\n"]);
        changes.make().unwrap();
        let files = tree(dir.path());
        assert_eq!(files.len(), 4, "{files:?}");
        for (path, text) in files {
            assert_eq!(text, format!("new {}\n", path.strip_prefix(dir.path()).unwrap().display()));
        }
    }

    #[test]
    fn an_interruption_anywhere_leaves_all_as_it_was() {
        for step in 0..4 {
            let (dir, changes) = project();
            let before = tree(dir.path());
            let error = changes.make_until(|number| number == step).unwrap_err();
            assert_eq!(format!("{error:#}"), "nothing was changed: interrupted");
            assert_eq!(tree(dir.path()), before, "{step}");
        }
    }

    #[test]
    fn the_next_run_undoes_what_a_killed_one_changed() {
        for step in 0..4 {
            let (dir, changes) = project();
            let before = tree(dir.path());
            changes.stage().unwrap();
            assert!(changes.put_in_place(|number| number == step).is_err());
            assert_ne!(tree(dir.path()), before);
            Changes::below(dir.path()).unwrap();
            assert_eq!(tree(dir.path()), before, "{step}");
        }
    }

    #[test]
    fn a_file_in_the_way_of_a_folder_leaves_all_as_it_was() {
        let (dir, changes) = project();
        fs::write(dir.path().join("kernels"), "a file").unwrap();
        let before = tree(dir.path());
        let error = format!("{:#}", changes.make().unwrap_err());
        assert!(error.starts_with("nothing was changed: cannot create the folder "), "{error}");
        assert_eq!(tree(dir.path()), before);
    }

    #[test]
    fn the_same_text_is_no_change() {
        let (dir, mut changes) = project();
        changes.write(dir.path().join("Cargo.toml"), "old\n".to_owned()).unwrap();
        assert_eq!(changes.changed().count(), 0);
    }
}
