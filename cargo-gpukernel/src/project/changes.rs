//! Changes of a project's files that are made together or not at all, by a [`Journal`].

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use similar::TextDiff;

use crate::{
    interrupt::Deferred,
    project::journal::{self, Journal},
};

/// Files to be written.
#[derive(Debug)]
pub(crate) struct Changes {
    /// What all of them are in, or beside: the root of a workspace.
    root: PathBuf,
    files: BTreeMap<PathBuf, Change>,
}

/// What becomes of one file.
#[derive(Debug)]
pub(super) struct Change {
    /// Its text, if it is there.
    pub(super) old: Option<String>,
    pub(super) new: String,
}

impl Changes {
    /// None yet, below this folder, which exists. If a run before was ended in the middle of its changes there, they are undone first.
    pub(crate) fn below(root: &Path) -> anyhow::Result<Self> {
        journal::settle(root)?;
        Ok(Self { root: root.to_owned(), files: BTreeMap::new() })
    }

    /// The text of a file with what is to change in it; `None` if there is none.
    pub(crate) fn read(&self, path: &Path) -> anyhow::Result<Option<String>> {
        match self.files.get(path) {
            Some(change) => Ok(Some(change.new.clone())),
            None => read(path),
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
        let signals = Deferred::begin()?;
        self.make_until(|_| signals.has_arrived())
    }

    /// Makes the changes, unless it is interrupted before one of them, counted from 0.
    fn make_until(self, is_interrupted: impl Fn(usize) -> bool) -> anyhow::Result<()> {
        let journal = Journal::begin(&self.root, &self.files).context("nothing was changed")?;
        match self.put_in_place(&journal, is_interrupted) {
            Ok(()) => journal.end(),
            Err(error) => match journal.undo() {
                Ok(()) => Err(error.context("nothing was changed")),
                Err(undoing) => Err(error.context(undoing)),
            },
        }
    }

    fn put_in_place(&self, journal: &Journal, is_interrupted: impl Fn(usize) -> bool) -> anyhow::Result<()> {
        for (path, change) in &self.files {
            if read(path)? != change.old {
                bail!("{} was changed meanwhile: run the command again", path.display());
            }
        }
        for (number, path) in self.files.keys().enumerate() {
            if is_interrupted(number) {
                bail!("interrupted");
            }
            journal.put_in_place(number, path)?;
        }
        Ok(())
    }
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        // The latter below a file, where a folder cannot be made.
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => {
            Ok(None)
        }
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Undoes what a run that was ended in the middle changed in one of the folders above a path.
pub(crate) fn recover_above(path: &Path) -> anyhow::Result<()> {
    path.ancestors().skip(1).try_for_each(journal::settle)
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
            // Dropped without an end, as by a kill.
            let journal = Journal::begin(&changes.root, &changes.files).unwrap();
            assert!(changes.put_in_place(&journal, |number| number == step).is_err());
            drop(journal);
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

    #[test]
    fn what_others_changed_meanwhile_is_kept() {
        let (dir, changes) = project();
        fs::write(dir.path().join("Cargo.toml"), "of another\n").unwrap();
        let before = tree(dir.path());
        let error = format!("{:#}", changes.make().unwrap_err());
        assert!(
            error.starts_with("nothing was changed: ") && error.contains("Cargo.toml was changed meanwhile"),
            "{error}"
        );
        assert_eq!(tree(dir.path()), before);
    }

    #[test]
    fn runs_in_one_folder_wait_for_each_other() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let root = dir.path();
                scope.spawn(move || {
                    let mut changes = Changes::below(root).unwrap();
                    changes.write(root.join(format!("{number}/file")), "new".to_owned()).unwrap();
                    changes.make().unwrap();
                });
            }
        });
        assert_eq!(tree(dir.path()).len(), 8);
    }
}
