//! Version control: a git repository for a new project, as `cargo new` makes one.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};

/// Whether the folder, which need not exist, lies in a git repository.
pub(crate) fn contains(folder: &Path) -> bool {
    folder.ancestors().any(|above| above.join(".git").exists())
}

/// Whether there is a git.
pub(crate) fn has_git() -> bool {
    git().arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Makes one.
pub(crate) fn init(folder: &Path) -> anyhow::Result<()> {
    let output = git().args(["init", "--quiet"]).arg(folder).output().context("cannot run git")?;
    ensure!(
        output.status.success(),
        "git cannot make a repository of {}: {}",
        folder.display(),
        String::from_utf8_lossy(&output.stderr).trim_end()
    );
    Ok(())
}

/// Without what another git, whose hook may run this, says about its repository.
fn git() -> Command {
    let mut git = Command::new("git");
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        git.env_remove(variable);
    }
    git.stderr(Stdio::piped());
    git
}
