//! `cargo gpukernel bench`: builds the bench targets that are written against gpukernel-bench, and runs those that have what is asked for.

use std::{
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
};

use anyhow::Context;
use cargo_metadata::{Package, Target, TargetKind};

use crate::{
    cargo,
    commands::setup,
    console, device, status, suggest,
    workspace::{BENCH_LIBRARY, Workspace},
};

/// Measure kernels, with checked results, baselines and a report; installs missing parts of the toolchain first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Measure only benchmarks whose path contains one of these regular expressions
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Measure in these packages instead of the workspace's default members
    #[arg(short, long, value_name = "NAME")]
    package: Vec<String>,
    /// Measure in every package of the workspace
    #[arg(long, conflicts_with = "package")]
    workspace: bool,
    /// Measure only this bench target
    #[arg(long, value_name = "NAME")]
    bench: Vec<String>,
    #[command(flatten)]
    device: device::Selection,
    /// Values for an axis instead of the declared ones: `elements=1000,2^20`; again for other axes
    #[arg(long, value_name = "NAME=VALUE")]
    axis: Vec<String>,
    /// Measure in these modes: `cold` (one launch, other memory in the cache), `batch` (one launch after another), `replay` (the same from a
    /// graph; only on a GPU); default: all
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    /// Keep the results under this name, to compare with later
    #[arg(long, value_name = "NAME")]
    save_baseline: Option<String>,
    /// Compare with the results under this name; fail if a time is longer
    #[arg(long, value_name = "NAME", conflicts_with = "save_baseline")]
    baseline: Option<String>,
    /// Print the results in this form: `table`, `markdown`, `csv`, `json`; default: table
    #[arg(long, value_name = "FORM")]
    output: Option<String>,
    /// List the benchmarks with their axes
    #[arg(long)]
    list: bool,
    /// Build, but do not measure
    #[arg(long)]
    no_run: bool,
    #[command(flatten)]
    cargo: cargo::Options,
    /// Other options of bench targets: `-- --help` lists them
    #[arg(last = true, value_name = "BENCH ARGS")]
    bench_args: Vec<String>,
}

/// A bench target that was built.
struct Program {
    /// `PACKAGE/TARGET`
    name: String,
    executable: PathBuf,
    /// Where cargo runs it.
    dir: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::load(&args.cargo)?;
    workspace.check(&args.cargo, &args.package)?;
    let packages = workspace.selected_members(&args.package, args.workspace);
    let benches = Workspace::benches(&packages);
    anyhow::ensure!(
        !benches.is_empty(),
        "no package of {} has a bench target and depends on `{BENCH_LIBRARY}`: add it under `[dev-dependencies]`, and a `[[bench]]` with `harness = false`",
        workspace.root()
    );
    let known = || benches.iter().map(|(_, target)| target.name.as_str());
    for name in &args.bench {
        anyhow::ensure!(
            known().any(|target| target == name),
            "there is no bench target `{name}` that is written against `{BENCH_LIBRARY}`{}",
            suggest::hint(name, known())
        );
    }
    setup::ensure_for(&args.cargo)?;
    let programs = match build(args, &workspace, &benches)? {
        Ok(programs) => programs,
        Err(code) => return Ok(code),
    };
    if args.no_run {
        return Ok(ExitCode::SUCCESS);
    }
    if args.list || asks_for_help(args) {
        return run_each(args, &programs);
    }
    let mut selected = Vec::new();
    for program in &programs {
        if programs.len() == 1 || has_what_is_asked_for(args, program)? {
            selected.push(program);
        }
    }
    anyhow::ensure!(
        !selected.is_empty(),
        "no benchmark fits the filters and axes; `cargo gpukernel bench --list` lists the benchmarks with their axes"
    );
    run_each(args, selected)
}

/// Builds them; cargo's exit code if that failed.
fn build(
    args: &Args,
    workspace: &Workspace,
    benches: &[(&Package, &Target)],
) -> anyhow::Result<Result<Vec<Program>, ExitCode>> {
    let wanted = |target: &Target| args.bench.is_empty() || args.bench.contains(&target.name);
    let benches: Vec<_> = benches.iter().filter(|(_, target)| wanted(target)).collect();
    let mut command = args.cargo.command(["bench", "--no-run"], "--profile");
    let mut packages: Vec<_> = benches.iter().map(|(package, _)| package.name.as_str()).collect();
    packages.dedup();
    command.args(packages.iter().flat_map(|package| ["--package", package]));
    command.args(benches.iter().flat_map(|(_, target)| ["--bench", target.name.as_str()]));
    let executables = match cargo::build(command)? {
        Ok(built) => built.executables,
        Err(code) => return Ok(Err(code)),
    };
    let program =
        |(artifact, executable): (cargo_metadata::Artifact, cargo_metadata::camino::Utf8PathBuf)| {
            let package = workspace.package(&artifact.package_id)?;
            let is_bench = artifact.target.is_kind(TargetKind::Bench);
            is_bench.then(|| Program {
                name: format!("{}/{}", package.name, artifact.target.name),
                executable: executable.into(),
                dir: package.manifest_path.parent().map(Into::into).unwrap_or_default(),
            })
        };
    Ok(Ok(executables.into_iter().filter_map(program).collect()))
}

fn asks_for_help(args: &Args) -> bool {
    args.bench_args.iter().any(|arg| matches!(arg.as_str(), "--help" | "-h" | "--list"))
}

/// The program with what the user asks for.
fn command(args: &Args, program: &Program) -> Command {
    let mut command = Command::new(&program.executable);
    command.current_dir(&program.dir).arg("--bench").args(&args.filters);
    let axes = args.axis.iter().flat_map(|axis| ["--axis", axis]);
    let valued = [
        ("--mode", &args.mode),
        ("--save-baseline", &args.save_baseline),
        ("--baseline", &args.baseline),
        ("--output", &args.output),
    ];
    command.args(axes);
    command.args(valued.into_iter().filter_map(|(flag, value)| Some([flag, value.as_deref()?])).flatten());
    command.args(args.list.then_some("--list"));
    command.args(console::options().is_quiet().then_some("--quiet"));
    command.args(&args.bench_args);
    args.device.apply(&mut command);
    console::options().apply(&mut command);
    command
}

/// Whether the target has a benchmark that fits the filters and has the axes: the others are not run.
fn has_what_is_asked_for(args: &Args, program: &Program) -> anyhow::Result<bool> {
    let mut command = command(args, program);
    let output = command.arg("--list").stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot start {}", program.executable.display()))?;
    // What is wrong with the command line, it says when it is run.
    Ok(!output.status.success() || !output.stdout.is_empty())
}

/// Runs one after another; the first code of failure is that of all.
fn run_each<'p>(args: &Args, programs: impl IntoIterator<Item = &'p Program>) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for program in programs {
        status::step("Running", &program.name);
        let this_code = cargo::run(command(args, program))?;
        if code == ExitCode::SUCCESS {
            code = this_code;
        }
    }
    Ok(code)
}
