//! cargo, run from inside of another cargo's build or without one.

use std::{env, ffi::OsString, path::Path, process::Command};

use cargo_metadata::{MetadataCommand, Package};

use crate::guard;

/// The cargo that runs this, if any does.
pub(crate) fn program() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// A command for it that an outer cargo does not affect.
pub(crate) fn command() -> Command {
    let mut command = Command::new(program());
    guard::clean_environment(&mut command);
    command
}

/// The package with this manifest; `None` where cargo does not tell.
pub(crate) fn package(manifest: &Path) -> Option<Package> {
    let mut command =
        MetadataCommand::new().cargo_path(program()).manifest_path(manifest).no_deps().cargo_command();
    guard::clean_environment(&mut command);
    let output = command.output().ok().filter(|output| output.status.success())?;
    let metadata = MetadataCommand::parse(str::from_utf8(&output.stdout).ok()?).ok()?;
    let manifest = manifest.canonicalize().ok()?;
    let is_it = |package: &Package| package.manifest_path.canonicalize().is_ok_and(|path| path == manifest);
    metadata.packages.into_iter().find(is_it)
}
