//! The workspace that a folder lies in.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use glob::Pattern;
use toml_edit::Item;

use crate::project::{changes::Changes, manifest::Manifest};

/// The root of a workspace.
#[derive(Clone, Debug)]
pub(crate) struct Enclosing {
    /// Its folder.
    pub(crate) root: PathBuf,
    /// Its `Cargo.toml`.
    pub(crate) manifest: Manifest,
}

impl Enclosing {
    /// The workspace whose member a package in this folder is or may become: the nearest one above it that does not exclude it. The folder is
    /// absolute and need not exist.
    pub(crate) fn of(folder: &Path, changes: &Changes) -> anyhow::Result<Option<Self>> {
        for root in folder.ancestors().skip(1) {
            let path = root.join("Cargo.toml");
            let Some(text) = changes.read(&path)? else { continue };
            let manifest = Manifest::parse(&path, &text)?;
            if manifest.is_workspace() {
                let enclosing = Self { root: root.to_owned(), manifest };
                return Ok((!enclosing.excludes(folder)).then_some(enclosing));
            }
        }
        Ok(None)
    }

    pub(crate) fn manifest_path(&self) -> PathBuf {
        self.root.join("Cargo.toml")
    }

    /// Whether `exclude` names the folder or one above it.
    pub(crate) fn excludes(&self, folder: &Path) -> bool {
        self.list("exclude").any(|excluded| folder.starts_with(self.root.join(excluded)))
    }

    /// Whether `members` names the folder.
    fn has_member(&self, folder: &Path) -> bool {
        self.list("members").any(|member| {
            let pattern = self.root.join(member);
            pattern == folder
                || pattern.to_str().is_some_and(|pattern| {
                    Pattern::new(pattern).is_ok_and(|pattern| pattern.matches_path(folder))
                })
        })
    }

    fn list(&self, name: &str) -> impl Iterator<Item = &str> {
        let list = self.manifest.item(&["workspace", name]).and_then(Item::as_array);
        list.into_iter().flatten().filter_map(|entry| entry.as_str())
    }

    /// Makes a package in this folder below the root a member.
    pub(crate) fn add_member(&mut self, folder: &Path) -> anyhow::Result<()> {
        match self.has_member(folder) {
            true => Ok(()),
            false => self.add("members", folder),
        }
    }

    /// Keeps a folder with workspaces of its own, below the root, out of this one.
    pub(crate) fn exclude(&mut self, folder: &Path) -> anyhow::Result<()> {
        match self.excludes(folder) {
            true => Ok(()),
            false => self.add("exclude", folder),
        }
    }

    fn add(&mut self, list: &str, folder: &Path) -> anyhow::Result<()> {
        let relative = folder.strip_prefix(&self.root).unwrap_or(folder);
        let relative = relative.to_str().with_context(|| format!("{} is not UTF-8", folder.display()))?;
        self.manifest.add_to_workspace(list, relative)
    }

    /// Checks that no package of the workspace has this name.
    ///
    /// # Errors
    /// One has, or cargo cannot read the workspace.
    pub(crate) fn check_is_free(&self, name: &str) -> anyhow::Result<()> {
        let metadata = crate::cargo::metadata(&self.manifest_path())?;
        let taken = metadata.packages.iter().find(|package| package.name == name);
        ensure!(
            taken.is_none(),
            "the workspace at {} has a package `{name}` already: choose another name with `--name`",
            self.root.display()
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_workspace_that_does_not_exclude_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let of = |folder: &str| {
            let changes = Changes::below(dir.path()).unwrap();
            Enclosing::of(&dir.path().join(folder), &changes).unwrap()
        };
        assert!(of("a").is_none());
        let text = "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"vendored\"]\n";
        fs::write(dir.path().join("Cargo.toml"), text).unwrap();
        assert!(of("vendored/b").is_none());
        let mut enclosing = of("crates/a").unwrap();
        enclosing.add_member(&dir.path().join("crates/a")).unwrap();
        enclosing.exclude(&dir.path().join("vendored/x")).unwrap();
        assert_eq!(enclosing.manifest.text(), text);
        enclosing.add_member(&dir.path().join("tools/a")).unwrap();
        enclosing.exclude(&dir.path().join("other")).unwrap();
        assert_eq!(
            enclosing.manifest.text(),
            "[workspace]\nmembers = [\"crates/*\", \"tools/a\"]\nexclude = [\"vendored\", \"other\"]\n"
        );
    }

    #[test]
    fn a_broken_manifest_above_is_an_error_with_its_path() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("Cargo.toml"), "[workspace\n").unwrap();
        let changes = Changes::below(dir.path()).unwrap();
        let error = format!("{:#}", Enclosing::of(&dir.path().join("a"), &changes).unwrap_err());
        assert!(error.contains("Cargo.toml is broken: TOML parse error at line 1"), "{error}");
    }
}
