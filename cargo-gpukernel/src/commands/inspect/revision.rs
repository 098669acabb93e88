//! A commit of the project's repository, checked out beside it for the time of a comparison.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Context;
use tempfile::TempDir;

/// The files of a commit, in a folder that goes away with this. Nothing of the repository changes.
///
/// Beside the files lie links to what lies beside the repository, so that dependencies such as `../gpukernel` are found.
pub(super) struct Checkout {
    dir: TempDir,
    files: PathBuf,
    /// The repository.
    root: PathBuf,
}

impl Checkout {
    /// Where they are.
    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The file of then for a file of now.
    pub(super) fn path_of(&self, file: &Path) -> anyhow::Result<PathBuf> {
        let relative = file.strip_prefix(&self.root).with_context(|| {
            format!("{} is not in the repository {}", file.display(), self.root.display())
        })?;
        let then = self.files.join(relative);
        anyhow::ensure!(then.is_file(), "there was no {} at that commit", relative.display());
        Ok(then)
    }
}

/// Checks out a commit of the repository that this folder is in.
pub(super) fn checkout(folder: &Path, revision: &str) -> anyhow::Result<Checkout> {
    let root = git(folder, &["rev-parse", "--show-toplevel"]).with_context(|| {
        format!(
            "{} is in no git repository, so that nothing can be compared with `{revision}`",
            folder.display()
        )
    })?;
    let root = PathBuf::from(root.trim_end());
    let commit = git(&root, &["rev-parse", "--verify", "--end-of-options", &format!("{revision}^{{commit}}")])
        .with_context(|| {
            format!(
                "`{revision}` is nothing to compare with: no commit, branch or tag of {}, no architecture such as `sm_80`, and no file that ends \
                 with .json or .cu",
                root.display()
            )
        })?;
    let dir = TempDir::with_prefix("gpukernel-inspect-").context("cannot make a temporary folder")?;
    let files = dir.path().join(root.file_name().unwrap_or("repository".as_ref()));
    fs::create_dir(&files).context("cannot make a temporary folder")?;
    for entry in root.parent().and_then(|parent| fs::read_dir(parent).ok()).into_iter().flatten().flatten() {
        if entry.path() != root {
            // What cannot be linked is missed by cargo, which names it.
            drop(symlink(entry.path(), dir.path().join(entry.file_name())));
        }
    }
    let mut archive = Command::new("git")
        .current_dir(&root)
        .args(["archive", "--format=tar", commit.trim_end()])
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start git")?;
    let output = archive.stdout.take().context("git has no output")?;
    // With the time of now: cargo compiles what is newer than what it has compiled of another commit.
    let unpacked = Command::new("tar")
        .args(["--extract", "--touch", "--directory"])
        .arg(&files)
        .stdin(output)
        .status()
        .context("cannot start tar")?;
    let archived = archive.wait().context("cannot wait for git")?;
    anyhow::ensure!(unpacked.success() && archived.success(), "cannot check out {revision}");
    Ok(Checkout { dir, files, root })
}

fn git(folder: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let output =
        Command::new("git").current_dir(folder).args(arguments).output().context("cannot start git")?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
    String::from_utf8(output.stdout).context("git printed what is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "--quiet"]).unwrap();
        fs::write(dir.path().join("a.txt"), "then").unwrap();
        git(dir.path(), &["add", "."]).unwrap();
        let who = ["-c", "user.name=a", "-c", "user.email=a@b"];
        git(dir.path(), &[&who[..], &["commit", "--quiet", "-m", "a"]].concat()).unwrap();
        fs::write(dir.path().join("a.txt"), "now").unwrap();
        fs::write(dir.path().join("b.txt"), "now").unwrap();
        dir
    }

    #[test]
    fn files_are_those_of_the_commit() {
        let dir = repository();
        let root = dir.path().canonicalize().unwrap();
        let checkout = checkout(&root, "HEAD").unwrap();
        let then = checkout.path_of(&root.join("a.txt")).unwrap();
        assert_eq!(fs::read_to_string(then).unwrap(), "then");
        let error = checkout.path_of(&root.join("b.txt")).unwrap_err().to_string();
        assert_eq!(error, "there was no b.txt at that commit");
        assert!(checkout.path_of(Path::new("/elsewhere")).is_err());
    }

    #[test]
    fn what_is_no_commit_is_an_error_that_says_what_there_could_be() {
        let dir = repository();
        let error = checkout(dir.path(), "sm80").err().unwrap().to_string();
        assert!(error.starts_with("`sm80` is nothing to compare with: no commit"), "{error}");
        let outside = tempfile::tempdir().unwrap();
        let error = checkout(outside.path(), "HEAD").err().unwrap().to_string();
        assert!(error.contains("is in no git repository"), "{error}");
    }
}
