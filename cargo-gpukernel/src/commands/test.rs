//! `cargo gpukernel test`: sets up what is missing, then runs every test, by cargo-nextest where there is one.

use std::{ffi::OsString, process::ExitCode};

use crate::{cargo, commands::setup, status, workspace::Workspace};

/// Run the tests, on every device there is; sets up the toolchain first if it is missing
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The packages to test, instead of the workspace's default members
    #[arg(short, long, value_name = "NAME")]
    package: Vec<String>,
    /// Test every package of the workspace
    #[arg(long, conflicts_with = "package")]
    workspace: bool,
    /// Run this integration test only
    #[arg(long, value_name = "NAME", group = "target")]
    test: Vec<String>,
    /// Run the unit tests of libraries only
    #[arg(long, group = "target")]
    lib: bool,
    /// Run the documentation tests only
    #[arg(long, group = "target")]
    doc: bool,
    /// Go on after a failed test
    #[arg(long)]
    no_fail_fast: bool,
    #[command(flatten)]
    cargo: cargo::Options,
    /// Run the tests with this in their name
    filter: Option<String>,
    /// What the test binaries get
    #[arg(last = true, value_name = "TEST ARGS")]
    test_args: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::load(&args.cargo)?;
    setup::ensure()?;
    if args.doc {
        return doc_tests(args, &workspace);
    }
    if !cargo::has_subcommand("nextest") {
        return tests(args, &["test"], "--profile");
    }
    // cargo-nextest has no documentation tests (nextest-rs/nextest#16), so cargo runs those.
    let code = tests(args, &["nextest", "run", "--no-tests=pass"], "--cargo-profile")?;
    let of_one_target = args.lib || !args.test.is_empty();
    let stop = of_one_target || (code != ExitCode::SUCCESS && !args.no_fail_fast);
    if stop {
        return Ok(code);
    }
    let doc_code = doc_tests(args, &workspace)?;
    Ok(if code == ExitCode::SUCCESS { doc_code } else { code })
}

fn tests(args: &Args, words: &[&str], profile_flag: &str) -> anyhow::Result<ExitCode> {
    let mut command = args.cargo.command(words.iter().copied(), profile_flag);
    command.args(args.package.iter().flat_map(|name| ["--package", name]));
    command.args(args.test.iter().flat_map(|name| ["--test", name]));
    for (flag, set) in
        [("--workspace", args.workspace), ("--lib", args.lib), ("--no-fail-fast", args.no_fail_fast)]
    {
        command.args(set.then_some(flag));
    }
    command.args(&args.filter).arg("--").args(&args.test_args);
    cargo::run(command)
}

fn doc_tests(args: &Args, workspace: &Workspace) -> anyhow::Result<ExitCode> {
    let packages = workspace.with_doc_tests(&args.package, args.workspace);
    if packages.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    status::step("Testing", "the examples of the documentation");
    let mut command = args.cargo.command(["test", "--doc"], "--profile");
    command.args(packages.iter().flat_map(|name| ["--package", name]));
    command.args(args.no_fail_fast.then_some("--no-fail-fast"));
    command.args(&args.filter).arg("--").args(&args.test_args);
    cargo::run(command)
}
