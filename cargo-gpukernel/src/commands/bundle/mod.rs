//! `cargo gpukernel bundle`: the test and example binaries in a folder that runs where there is no Rust.
//!
//! Kernels are embedded in the binaries and the driver is loaded at run time, so a folder built on a machine
//! without a GPU runs on any Linux machine with a driver and a C library no older than this one's.

mod script;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use anyhow::Context;
use cargo_metadata::{Artifact, Package, TargetKind, camino::Utf8PathBuf};

use crate::{cargo, commands::setup, output::Folder, status, table::bytes, workspace::Workspace};

/// Collect test, benchmark and example binaries in a folder that runs on machines without Rust
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder to write; an earlier bundle there is replaced
    #[arg(short, long, value_name = "DIR", default_value = "bundle")]
    output: PathBuf,
    /// Bundle these packages instead of every member that depends on `gpukernel`
    #[arg(short, long, value_name = "NAME")]
    package: Vec<String>,
    #[command(flatten)]
    cargo: cargo::Options,
}

/// The profile if none is asked for: tests and benchmarks run optimised.
const PROFILE: &str = "release";

/// What a bundle is meant to stay under: it travels over networks.
const EXPECTED_BYTES: u64 = 60_000_000;

/// A binary and its place in the bundle.
#[derive(Debug, PartialEq, Eq)]
struct Item {
    /// `tests`, `benches` or `examples`.
    folder: &'static str,
    name: String,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::load(&args.cargo)?;
    workspace.check(&args.cargo, &args.package)?;
    let mut packages = workspace.launching_members();
    if !args.package.is_empty() {
        for name in &args.package {
            anyhow::ensure!(
                packages.iter().any(|package| package.name == name),
                "no member `{name}` of the workspace at {} depends on `gpukernel`, so it has nothing to bundle",
                workspace.root()
            );
        }
        packages.retain(|package| args.package.iter().any(|name| package.name == name));
    }
    anyhow::ensure!(
        !packages.is_empty(),
        "no member of the workspace at {} depends on `gpukernel`: there is nothing to bundle",
        workspace.root()
    );
    for package in &packages {
        excluded(package)?;
    }

    check_folder(&args.output)?;

    setup::ensure_for(&args.cargo)?;
    let artifacts = match build(args, &packages)? {
        Ok(artifacts) => artifacts,
        Err(code) => return Ok(code),
    };

    let bundle = Folder::begin(&args.output)?;
    let mut size = 0;
    let mut items = BTreeMap::new();
    for (artifact, executable) in artifacts {
        let Some(package) = workspace.package(&artifact.package_id) else { continue };
        let Some(item) = item(package, &artifact) else { continue };
        if excluded(package)?.contains(&artifact.target.name)
            || (item.folder == "tests" && has_no_tests(&executable))
        {
            continue;
        }
        bundle.check()?;
        let place = Path::new(item.folder).join(&item.name);
        let shown = args.output.join(&place);
        if let Some(other) = items.insert(place.clone(), package.name.clone()) {
            anyhow::bail!(
                "the packages `{other}` and `{}` both have a binary for {}; rename one",
                package.name,
                shown.display()
            );
        }
        status::step("Bundling", shown.display());
        size += copy(executable.as_std_path(), &bundle.path().join(place))?;
    }
    anyhow::ensure!(!items.is_empty(), "the packages have no tests, benchmarks or binaries");
    if size > EXPECTED_BYTES {
        status::warn(format_args!(
            "the bundle is {} large, more than the intended {}; select fewer packages with `--package`",
            bytes(size),
            bytes(EXPECTED_BYTES)
        ));
    }
    script::write(bundle.path(), &commit(workspace.root()))?;
    // Another program may have written there meanwhile.
    check_folder(&args.output)?;
    bundle.finish()?;
    status::print(format_args!(
        "{}: {} binaries, {}; run {} on the other machine\n",
        args.output.display(),
        items.len(),
        bytes(size),
        args.output.join(script::NAME).display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Builds every target; the executables, or cargo's exit code if it failed.
fn build(args: &Args, packages: &[&Package]) -> anyhow::Result<Result<Vec<cargo::Executable>, ExitCode>> {
    let mut options = args.cargo.clone();
    let profile = options.profile.take().unwrap_or_else(|| PROFILE.to_owned());
    options.release = false;
    let mut command = options.command(["build", "--all-targets"], "--profile");
    command.args(["--profile", &profile]);
    // The linker strips: symbols are two thirds of a binary, and no one debugs the bundle.
    command.args(["--config", &format!("profile.{profile}.strip=\"symbols\"")]);
    command.args(packages.iter().flat_map(|package| ["--package", package.name.as_str()]));
    Ok(cargo::build(command)?.map(|built| built.executables))
}

/// Where a binary goes, if the bundle takes it.
fn item(package: &Package, artifact: &Artifact) -> Option<Item> {
    let target = &artifact.target;
    let name = &target.name;
    let kind = |kind| target.is_kind(kind);
    Some(if kind(TargetKind::Bench) {
        Item { folder: "benches", name: format!("{}.{name}", package.name) }
    } else if artifact.profile.test {
        let name = match (kind(TargetKind::Test), kind(TargetKind::Bin), kind(TargetKind::Example)) {
            (true, ..) => format!("{}.{name}", package.name),
            (_, true, _) => format!("{}.bin.{name}", package.name),
            (_, _, true) => format!("{}.example.{name}", package.name),
            _ => package.name.to_string(),
        };
        Item { folder: "tests", name }
    } else if kind(TargetKind::Example) || kind(TargetKind::Bin) {
        Item { folder: "examples", name: name.clone() }
    } else {
        return None;
    })
}

/// The targets that the package keeps out: `[package.metadata.gpukernel] bundle = { exclude = ["compile_fail"] }`.
fn excluded(package: &Package) -> anyhow::Result<Vec<String>> {
    let Some(list) = package.metadata.pointer("/gpukernel/bundle/exclude") else { return Ok(Vec::new()) };
    list.as_array()
        .and_then(|list| list.iter().map(|name| name.as_str().map(str::to_owned)).collect())
        .with_context(|| {
            format!(
                "{}: `package.metadata.gpukernel.bundle.exclude` is `{list}`, but must be a list of target names",
                package.manifest_path
            )
        })
}

/// Whether a test binary says that it has no tests. One that says nothing intelligible is taken.
fn has_no_tests(executable: &Utf8PathBuf) -> bool {
    Command::new(executable)
        .args(["--list", "--format", "terse"])
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| output.status.success() && output.stdout.is_empty())
}

/// Refuses a folder that holds something else than a bundle.
fn check_folder(folder: &Path) -> anyhow::Result<()> {
    let is_free = !folder.exists() || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    anyhow::ensure!(
        is_free || folder.join(script::NAME).is_file(),
        "{} exists and is not a bundle (it has no `{}`): choose another folder with `--output`",
        folder.display(),
        script::NAME
    );
    Ok(())
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<u64> {
    let copy = || {
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::copy(from, to)
    };
    copy().with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// The commit that is bundled; with `-dirty` if files differ from it.
fn commit(root: &Utf8PathBuf) -> String {
    Command::new("git")
        .args(["-C", root.as_str(), "describe", "--always", "--abbrev=40", "--match=", "--dirty"])
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_else(|| "unknown (not in a git checkout)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_no_bundle_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("thesis.tex");
        fs::write(&precious, "years of work").unwrap();
        let error = check_folder(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is not a bundle"), "{error}");
        assert!(precious.exists());
    }

    #[test]
    fn an_earlier_bundle_may_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        script::write(folder.path(), "0123abc").unwrap();
        fs::write(folder.path().join("stale"), "").unwrap();
        check_folder(folder.path()).unwrap();
    }
}
