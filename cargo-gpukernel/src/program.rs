//! One program of a workspace: which, built by cargo, and run with another program in front of it, such as a debugger.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Context;
use cargo_metadata::{Artifact, Package, TargetKind, camino::Utf8PathBuf};
use signal_hook::consts::SIGINT;

use crate::{
    cargo,
    commands::setup,
    device,
    workspace::{Example, Workspace},
};

/// Which program.
#[derive(Debug, clap::Args)]
pub(crate) struct Target {
    /// Run this example: an example target, or the package in the folder `examples/NAME`
    #[arg(long, value_name = "NAME", group = "target")]
    example: Option<String>,
    /// Run this binary
    #[arg(long, value_name = "NAME", group = "target")]
    bin: Option<String>,
    /// Run a program of this package
    #[arg(short, long, value_name = "NAME")]
    package: Option<String>,
}

/// Which tests or executable in place of a program that is built.
#[derive(Debug, clap::Args)]
struct OtherTarget {
    /// Run this integration test
    #[arg(long, value_name = "NAME", group = "target")]
    test: Option<String>,
    /// Run the unit tests of the library
    #[arg(long, group = "target")]
    lib: bool,
    /// Run this executable, and build nothing: for machines without Rust
    #[arg(long, value_name = "FILE", group = "target", conflicts_with = "package")]
    program: Option<PathBuf>,
}

impl OtherTarget {
    fn is_test(&self) -> bool {
        self.lib || self.test.is_some()
    }
}

impl Target {
    /// Checks the names that are handed on to cargo.
    pub(crate) fn check(&self, workspace: &Workspace, options: &cargo::Options) -> anyhow::Result<()> {
        workspace.check(options, self.package.as_slice())?;
        workspace.check_targets(TargetKind::Bin, &self.bin, self.package.as_slice())
    }

    /// What tells cargo so.
    pub(crate) fn words<'a>(
        &'a self,
        workspace: &'a Workspace,
        options: &cargo::Options,
    ) -> anyhow::Result<Vec<&'a str>> {
        let mut words: Vec<&str> = Vec::new();
        if let Some(name) = &self.example {
            match workspace.example(name)? {
                // Features that are asked for are this package's.
                Example::Package { only_program: Some(name), .. } if !options.selects_features() => {
                    words.extend(["--bin", name]);
                }
                Example::Package { package, .. } => words.extend(["--package", package]),
                Example::Target { package } => {
                    let package = self.package.as_deref().unwrap_or(package);
                    words.extend(["--package", package, "--example", name]);
                }
            }
        } else {
            words.extend(self.package.iter().flat_map(|name| ["--package", name]));
            words.extend(self.bin.iter().flat_map(|name| ["--bin", name]));
        }
        Ok(words)
    }
}

/// A program that is run to be observed: which, how it is built, where it runs, and what it is given.
#[derive(Debug, clap::Args)]
pub(crate) struct Observed {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    other: OtherTarget,
    #[command(flatten)]
    device: device::Selection,
    #[command(flatten)]
    pub(crate) cargo: cargo::Options,
    /// Arguments for the program
    #[arg(last = true, value_name = "PROGRAM ARGS")]
    program_args: Vec<OsString>,
}

impl Observed {
    /// Whether its kernels run on a GPU.
    pub(crate) fn is_on_gpu(&self) -> bool {
        self.device.is_gpu()
    }

    /// A command that runs the program on the device that was asked for, or a runner with these words before it.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, program: &Program, runner: &[S]) -> Command {
        let mut command = program.command(runner, &self.program_args);
        self.device.apply(&mut command);
        command
    }

    /// Builds the program, with what it needs set up, or takes one that is there; cargo's exit code if it does not build. `adjust` changes the
    /// command that builds it.
    pub(crate) fn find(
        &self,
        adjust: impl FnOnce(&Workspace, &mut Command),
    ) -> anyhow::Result<Result<Found, ExitCode>> {
        if let Some(file) = &self.other.program {
            let executable =
                file.canonicalize().with_context(|| format!("there is no program {}", file.display()))?;
            let here = env::current_dir().context("there is no current folder")?;
            let program = Program { executable, dir: None, variables: Vec::new() };
            return Ok(Ok(Found { program, folders: vec![here.clone()], output: here }));
        }
        let workspace = Workspace::load(&self.cargo)?;
        self.target.check(&workspace, &self.cargo)?;
        workspace.check_targets(TargetKind::Test, &self.other.test, self.target.package.as_slice())?;
        setup::ensure_for(&self.cargo)?;
        let built = self.build(&workspace, adjust)?;
        Ok(built.map(|program| {
            let root = workspace.root().as_std_path().to_owned();
            let folders = std::iter::once(root).chain(workspace.local_folders()).collect();
            Found { program, folders, output: workspace.target_dir().join("gpukernel/profile").into() }
        }))
    }

    fn build(
        &self,
        workspace: &Workspace,
        adjust: impl FnOnce(&Workspace, &mut Command),
    ) -> anyhow::Result<Result<Program, ExitCode>> {
        let words: &[&str] = if self.other.is_test() { &["test", "--no-run"] } else { &["build"] };
        let mut command = self.cargo.command(words.iter().copied(), "--profile");
        command.args(self.target.words(workspace, &self.cargo)?);
        command.args(self.other.test.iter().flat_map(|name| ["--test", name]));
        command.args(self.other.lib.then_some("--lib"));
        adjust(workspace, &mut command);
        let built = match cargo::build(command)? {
            Ok(built) => built,
            Err(code) => return Ok(Err(code)),
        };
        let artifacts = built.executables.into_iter().map(|(artifact, _)| artifact).collect();
        let artifact = choose(workspace, artifacts, self.other.is_test())?;
        Program::new(workspace, &artifact, &built.linked_paths).map(Ok)
    }
}

/// A program that was built.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) executable: PathBuf,
    /// Where it runs, if not in the user's folder: tests run in that of their package.
    dir: Option<PathBuf>,
    /// What cargo sets for the programs that it runs.
    variables: Vec<(&'static str, OsString)>,
}

/// A program that can be run, and where its source is.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) program: Program,
    /// Where paths of source files may begin.
    pub(crate) folders: Vec<PathBuf>,
    /// Where files go that are made from it.
    pub(crate) output: PathBuf,
}

/// The program to run among those that were built, as `cargo run` chooses it.
fn choose(workspace: &Workspace, artifacts: Vec<Artifact>, is_test: bool) -> anyhow::Result<Artifact> {
    let is_wanted = |artifact: &Artifact| {
        let is_program =
            artifact.target.is_kind(TargetKind::Bin) || artifact.target.is_kind(TargetKind::Example);
        if is_test { artifact.profile.test } else { is_program && !artifact.profile.test }
    };
    let mut found: Vec<_> = artifacts.into_iter().filter(is_wanted).collect();
    if found.len() > 1 {
        let is_default = |artifact: &Artifact| {
            let package = workspace.package(&artifact.package_id);
            package.and_then(|package| package.default_run.as_deref()) == Some(&artifact.target.name)
        };
        if found.iter().filter(|artifact| is_default(artifact)).count() == 1 {
            found.retain(is_default);
        }
    }
    let mut names: Vec<_> = found.iter().map(|artifact| format!("`{}`", artifact.target.name)).collect();
    names.sort();
    match (found.pop(), names.len()) {
        (Some(only), 1) => Ok(only),
        (None, _) => anyhow::bail!(
            "there is no program to run in the workspace at {}: choose one with `--bin`, `--example`, `--test` or `--package`",
            workspace.root()
        ),
        _ => anyhow::bail!(
            "{} programs can be run: {}; choose one with `--bin`, `--example` or `--package`",
            names.len(),
            names.join(", ")
        ),
    }
}

impl Program {
    fn new(workspace: &Workspace, artifact: &Artifact, linked: &[Utf8PathBuf]) -> anyhow::Result<Self> {
        let executable = artifact.executable.clone().context("cargo names no executable")?;
        let package = workspace.package(&artifact.package_id);
        let dir =
            package.filter(|_| artifact.profile.test).and_then(|package| package.manifest_path.parent());
        Ok(Self {
            dir: dir.map(|dir| dir.as_std_path().to_owned()),
            variables: variables(package, executable.as_std_path(), linked)?,
            executable: executable.into(),
        })
    }

    /// A command that runs it, or a runner with these words before it.
    fn command<S: AsRef<OsStr>>(&self, runner: &[S], arguments: &[OsString]) -> Command {
        let mut command = match runner {
            [] => Command::new(&self.executable),
            [runner, words @ ..] => {
                let mut command = Command::new(runner);
                command.args(words).arg(&self.executable);
                command
            }
        };
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command.args(arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// What cargo sets when it runs a program (The Cargo Book, "Environment variables cargo sets for crates"), as far as programs can see it.
fn variables(
    package: Option<&Package>,
    executable: &Path,
    linked: &[Utf8PathBuf],
) -> anyhow::Result<Vec<(&'static str, OsString)>> {
    let mut variables: Vec<(&'static str, OsString)> =
        vec![("CARGO", cargo::cargo().get_program().to_owned())];
    if let Some(package) = package {
        let dir = package.manifest_path.parent().map(|dir| dir.as_os_str().to_owned()).unwrap_or_default();
        variables.extend([
            ("CARGO_MANIFEST_DIR", dir),
            ("CARGO_MANIFEST_PATH", package.manifest_path.as_os_str().to_owned()),
            ("CARGO_PKG_NAME", package.name.as_str().into()),
            ("CARGO_PKG_VERSION", package.version.to_string().into()),
        ]);
    }
    let own = executable.parent().unwrap_or(Path::new("."));
    // `native=/folder`, as build scripts print it.
    let linked =
        linked.iter().map(|path| path.as_str().split_once('=').map_or(path.as_str(), |(_, path)| path));
    let mut folders: Vec<PathBuf> = linked.map(PathBuf::from).collect();
    folders.extend([own.join("deps"), own.to_owned()]);
    let name = "LD_LIBRARY_PATH";
    folders.extend(env::split_paths(&env::var_os(name).unwrap_or_default()));
    folders.retain(|folder| !folder.as_os_str().as_encoded_bytes().contains(&b':'));
    variables.push((name, env::join_paths(folders).context("cannot write LD_LIBRARY_PATH")?));
    Ok(variables)
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: std::process::ExitStatus,
    /// Ctrl-C was pressed, which all programs of the terminal get.
    pub(crate) was_interrupted: bool,
}

/// Runs a command to its end, the terminal lent. Ctrl-C is for the command to handle: what it leaves behind is still shown.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<Ended> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let handler = signal_hook::flag::register(SIGINT, Arc::clone(&interrupted));
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", command.get_program().to_string_lossy()))?;
    if let Ok(handler) = handler {
        signal_hook::low_level::unregister(handler);
    }
    Ok(Ended { status, was_interrupted: interrupted.load(std::sync::atomic::Ordering::Relaxed) })
}
