//! Running cargo: the options that are handed on to it, and its exit code.

mod features;
mod profile;

use std::{
    ffi::OsStr,
    io::BufReader,
    os::unix::process::ExitStatusExt,
    path::{self, Path, PathBuf},
    process::{Command, ExitCode, ExitStatus, Stdio},
};

use anyhow::Context;
use cargo_metadata::{Artifact, Message, Metadata, MetadataCommand, camino::Utf8PathBuf};
use gpukernel_build::{CargoOptions, Profile};

use self::profile::Profiles;
use crate::{console, status};

/// Options that are passed on to cargo.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Options for cargo")]
pub(crate) struct Options {
    /// Use this Cargo.toml instead of the one of the current folder
    #[arg(long, value_name = "PATH")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// Build with the release profile
    #[arg(short, long, conflicts_with = "profile")]
    pub(crate) release: bool,
    /// Build with this profile
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Activate these features
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub(crate) features: Vec<String>,
    /// Activate all features
    #[arg(long)]
    pub(crate) all_features: bool,
    /// Do not activate the default features
    #[arg(long)]
    pub(crate) no_default_features: bool,
    /// Number of parallel jobs
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<String>,
    /// Folder for all generated files
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
    /// Fail if Cargo.lock would change
    #[arg(long)]
    pub(crate) locked: bool,
    /// Run without network access
    #[arg(long)]
    pub(crate) offline: bool,
    /// Both `--locked` and `--offline`
    #[arg(long)]
    pub(crate) frozen: bool,
}

impl Options {
    /// The options that decide how cargo reads a workspace.
    pub(crate) fn for_metadata(&self) -> Vec<String> {
        let flags = [("--locked", self.locked), ("--offline", self.offline), ("--frozen", self.frozen)];
        flags.into_iter().filter(|(_, set)| *set).map(|(flag, _)| flag.to_owned()).collect()
    }

    /// `cargo <words>` with these options. cargo-nextest calls cargo's profile differently: `profile_flag`.
    pub(crate) fn command<'w>(
        &self,
        words: impl IntoIterator<Item = &'w str>,
        profile_flag: &str,
    ) -> Command {
        let mut command = cargo();
        command.args(words).args(self.for_metadata());
        command.args(self.features.iter().flat_map(|features| ["--features", features]));
        for (flag, set) in [
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
            ("--release", self.release),
        ] {
            command.args(set.then_some(flag));
        }
        let mut valued = |flag: &str, value: Option<&OsStr>| {
            if let Some(value) = value {
                command.arg(flag).arg(value);
            }
        };
        valued("--manifest-path", self.manifest_path.as_ref().map(AsRef::as_ref));
        valued(profile_flag, self.profile.as_ref().map(AsRef::as_ref));
        valued("--jobs", self.jobs.as_ref().map(AsRef::as_ref));
        valued("--target-dir", self.target_dir.as_ref().map(AsRef::as_ref));
        let console = console::options();
        command.args(std::iter::repeat_n("--verbose", console.verbosity().into()));
        command.args(console.is_quiet().then_some("--quiet"));
        command
    }

    /// The same options for the cargo that compiles kernel crates.
    pub(crate) fn for_kernels(&self) -> CargoOptions {
        let console = console::options();
        CargoOptions {
            locked: self.locked || self.frozen,
            offline: self.offline || self.frozen,
            jobs: self.jobs.clone(),
            verbose: console.verbosity(),
            quiet: console.is_quiet(),
            color: console.colors(),
        }
    }

    /// Whether the profile is a dev build; the one that cargo would take, if none is asked for.
    pub(crate) fn profile_kind(&self, workspace: &Path, default: Profile) -> anyhow::Result<Profile> {
        match &self.profile {
            Some(name) => Profiles::of(workspace)?.kind(name),
            None if self.release => Ok(Profile::Release),
            None => Ok(default),
        }
    }
}

/// The cargo that started this program, else the one on the path.
///
/// Inside the repository an alias starts this program through `cargo run`, whose description of *this* package
/// must not reach the builds it starts.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let of_this_package = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name == "OUT_DIR"
        });
        if of_this_package {
            command.env_remove(name);
        }
    }
    console::options().apply(&mut command);
    command
}

/// Checks that cargo can work in a folder, or with a manifest: some parts of it cannot, and say so late or not at all.
pub(crate) fn check_path(path: &Path) -> anyhow::Result<()> {
    let path = path::absolute(path).with_context(|| format!("{} is no path", path.display()))?;
    anyhow::ensure!(
        path.to_str().is_some(),
        "the path {} is not UTF-8, which cargo needs: rename the folder",
        path.display()
    );
    Ok(())
}

/// What cargo says about the workspace of a manifest, without what it depends on.
pub(crate) fn metadata(manifest: &Path) -> anyhow::Result<Metadata> {
    check_path(manifest)?;
    let mut command = MetadataCommand::new();
    command.manifest_path(manifest).no_deps();
    command.exec().with_context(|| format!("cannot read the workspace of {}", manifest.display()))
}

/// Whether cargo knows the subcommand.
pub(crate) fn has_subcommand(name: &str) -> bool {
    cargo().args([name, "--version"]).output().is_ok_and(|output| output.status.success())
}

/// A program that cargo built.
pub(crate) type Executable = (Artifact, Utf8PathBuf);

/// What cargo built.
#[derive(Default)]
pub(crate) struct Built {
    pub(crate) executables: Vec<Executable>,
    /// Where build scripts have the linker look for libraries.
    pub(crate) linked_paths: Vec<Utf8PathBuf>,
}

/// Runs a command that builds; what it built, or its exit code if it failed.
pub(crate) fn build(mut command: Command) -> anyhow::Result<Result<Built, ExitCode>> {
    command.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let mut cargo = command.spawn().context("cannot start cargo")?;
    let output = cargo.stdout.take().context("cannot read cargo's output")?;
    let mut built = Built::default();
    for message in Message::parse_stream(BufReader::new(output)) {
        match message.context("cannot read cargo's messages")? {
            Message::CompilerArtifact(artifact) => {
                if let Some(executable) = artifact.executable.clone() {
                    built.executables.push((artifact, executable));
                }
            }
            Message::BuildScriptExecuted(script) => built.linked_paths.extend(script.linked_paths),
            _ => {}
        }
    }
    let status = cargo.wait().context("cannot wait for cargo")?;
    Ok(if status.success() { Ok(built) } else { Err(exit_code(status)) })
}

/// Runs to the end, the terminal lent; the exit code is the command's.
pub(crate) fn run(mut command: Command) -> anyhow::Result<ExitCode> {
    status::detail("Running", format_args!("`{}`", shown(&command)));
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", command.get_program().to_string_lossy()))?;
    Ok(exit_code(status))
}

/// A command line for people.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// The same exit code; for a death by signal what a shell makes of it.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_reach_cargo() {
        let options = Options {
            release: true,
            features: vec!["a,b".to_owned()],
            jobs: Some("2".to_owned()),
            frozen: true,
            ..Options::default()
        };
        let command = options.command(["nextest", "run"], "--cargo-profile");
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(words, ["nextest", "run", "--frozen", "--features", "a,b", "--release", "--jobs", "2"]);
    }

    #[test]
    fn the_profile_has_another_name_for_nextest() {
        let options = Options { profile: Some("bench".to_owned()), ..Options::default() };
        let command = options.command(["nextest", "run"], "--cargo-profile");
        assert_eq!(command.get_args().skip(2).collect::<Vec<_>>(), ["--cargo-profile", "bench"]);
    }

    #[test]
    fn exit_codes_survive() {
        assert_eq!(exit_code(ExitStatus::from_raw(3 << 8)), ExitCode::from(3));
        assert_eq!(exit_code(ExitStatus::from_raw(9)), ExitCode::from(137));
    }
}
