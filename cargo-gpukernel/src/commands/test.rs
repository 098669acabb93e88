//! `cargo gpukernel test`: sets up what is missing, then runs every test, by cargo-nextest where there is one.
//!
//! Tests that need a GPU are marked `#[ignore = "needs a GPU"]`, in a module [`NEEDS_A_GPU`]: where there is none, the test runner's
//! summary counts them as skipped, not as passed. Other ignored tests stay ignored.

use std::{ffi::OsString, process::ExitCode};

use cargo_metadata::TargetKind;
use gpukernel_build::toolchain::{Driver, Environment};

use crate::{cargo, commands::setup, device, status, workspace::Workspace};

/// The name of the modules whose tests run only where there is a GPU.
const NEEDS_A_GPU: &str = "needs_a_gpu";

/// Run the tests, on every available device; installs missing parts of the toolchain first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Test these packages instead of the workspace's default members
    #[arg(short, long, value_name = "NAME")]
    package: Vec<String>,
    /// Test every package of the workspace
    #[arg(long, conflicts_with = "package")]
    workspace: bool,
    /// Run only this integration test
    #[arg(long, value_name = "NAME", group = "target")]
    test: Vec<String>,
    /// Run only the unit tests of libraries
    #[arg(long, group = "target")]
    lib: bool,
    /// Run only the doc tests
    #[arg(long, group = "target")]
    doc: bool,
    /// Continue after a failed test
    #[arg(long)]
    no_fail_fast: bool,
    #[command(flatten)]
    device: device::Selection,
    #[command(flatten)]
    cargo: cargo::Options,
    /// Run only tests whose name contains this
    filter: Option<String>,
    /// Arguments for the test binaries
    #[arg(last = true, value_name = "TEST ARGS")]
    test_args: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::load(&args.cargo)?;
    workspace.check(&args.cargo, &args.package)?;
    workspace.check_targets(TargetKind::Test, &args.test, &args.package)?;
    setup::ensure_for(&args.cargo)?;
    if args.doc {
        return doc_tests(args, &workspace);
    }
    let has_gpu = !Driver::find(&Environment::process()).gpus.is_empty();
    let mut code = ExitCode::SUCCESS;
    for step in steps(cargo::has_subcommand("nextest"), has_gpu, args) {
        let step_code = match step {
            Step::Tests { words, profile_flag, selection } => tests(args, words, profile_flag, selection)?,
            Step::Benches => benches(args, &workspace)?,
            Step::DocTests => doc_tests(args, &workspace)?,
        };
        if code == ExitCode::SUCCESS {
            code = step_code;
        }
        if code != ExitCode::SUCCESS && !args.no_fail_fast {
            break;
        }
    }
    if !has_gpu {
        status::note("Skipped", format!("tests in modules `{NEEDS_A_GPU}`: no GPU was found"));
    }
    Ok(code)
}

/// One run of a test runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Tests {
        words: &'static [&'static str],
        profile_flag: &'static str,
        /// What stands behind the user's filter and test arguments.
        selection: Selection,
    },
    /// Each benchmark once, of bench targets that are not tests for cargo.
    Benches,
    DocTests,
}

/// Which tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Selection {
    /// Those that are not ignored.
    Usual,
    /// Those that need a GPU, for cargo-nextest.
    GpuByNextest,
    /// The same for cargo.
    GpuByCargo,
}

/// What is run, in this order.
fn steps(has_nextest: bool, has_gpu: bool, args: &Args) -> Vec<Step> {
    let (words, profile_flag, gpu): (&[&str], _, _) = match has_nextest {
        true => (&["nextest", "run", "--no-tests=pass"], "--cargo-profile", Selection::GpuByNextest),
        false => (&["test"], "--profile", Selection::GpuByCargo),
    };
    let mut steps = vec![Step::Tests { words, profile_flag, selection: Selection::Usual }];
    // cargo takes one filter, which is the user's then.
    if has_gpu && (has_nextest || args.filter.is_none()) {
        steps.push(Step::Tests { words, profile_flag, selection: gpu });
    }
    if !args.lib && args.test.is_empty() {
        steps.push(Step::Benches);
    }
    // cargo-nextest has no documentation tests (nextest-rs/nextest#16), so cargo runs those.
    if has_nextest && !args.lib && args.test.is_empty() {
        steps.push(Step::DocTests);
    }
    steps
}

fn tests(args: &Args, words: &[&str], profile_flag: &str, selection: Selection) -> anyhow::Result<ExitCode> {
    let mut command = args.cargo.command(words.iter().copied(), profile_flag);
    args.device.apply(&mut command);
    command.args(args.package.iter().flat_map(|name| ["--package", name]));
    command.args(args.test.iter().flat_map(|name| ["--test", name]));
    for (flag, set) in
        [("--workspace", args.workspace), ("--lib", args.lib), ("--no-fail-fast", args.no_fail_fast)]
    {
        command.args(set.then_some(flag));
    }
    match selection {
        Selection::Usual => command.args(&args.filter).arg("--").args(&args.test_args),
        Selection::GpuByNextest => command
            .args(["--run-ignored", "only", "--filterset", &format!("test({NEEDS_A_GPU})")])
            .args(&args.filter)
            .arg("--")
            .args(&args.test_args),
        Selection::GpuByCargo => command.args([NEEDS_A_GPU, "--", "--ignored"]).args(&args.test_args),
    };
    cargo::run(command)
}

fn benches(args: &Args, workspace: &Workspace) -> anyhow::Result<ExitCode> {
    let packages = workspace.selected_members(&args.package, args.workspace);
    let benches: Vec<_> =
        Workspace::benches(&packages).into_iter().filter(|(_, target)| !target.test).collect();
    if benches.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    status::step("Testing", "each benchmark once");
    let mut command = args.cargo.command(["test"], "--profile");
    args.device.apply(&mut command);
    command.args(args.package.iter().flat_map(|name| ["--package", name]));
    command.args(args.workspace.then_some("--workspace"));
    command.args(args.no_fail_fast.then_some("--no-fail-fast"));
    command.args(benches.iter().flat_map(|(_, target)| ["--bench", target.name.as_str()]));
    // The arguments for test binaries are not for these.
    command.args(&args.filter);
    cargo::run(command)
}

fn doc_tests(args: &Args, workspace: &Workspace) -> anyhow::Result<ExitCode> {
    // cargo refuses packages of which none has a library.
    if !workspace.has_doc_tests(&args.package, args.workspace) {
        return Ok(ExitCode::SUCCESS);
    }
    status::step("Testing", "the examples in the documentation");
    let mut command = args.cargo.command(["test", "--doc"], "--profile");
    args.device.apply(&mut command);
    // The same packages as for the other tests, not only those with libraries: cargo would turn on other features of what they
    // depend on, and compile all of it again.
    command.args(args.package.iter().flat_map(|name| ["--package", name]));
    for (flag, set) in [("--workspace", args.workspace), ("--no-fail-fast", args.no_fail_fast)] {
        command.args(set.then_some(flag));
    }
    command.args(&args.filter).arg("--").args(&args.test_args);
    cargo::run(command)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn selections(has_nextest: bool, has_gpu: bool, words: &[&str]) -> Vec<Option<Selection>> {
        let words = ["test"].iter().chain(words);
        let selection = |step| match step {
            Step::Tests { selection, .. } => Some(selection),
            Step::Benches | Step::DocTests => None,
        };
        steps(has_nextest, has_gpu, &Cli::parse_from(words).args).into_iter().map(selection).collect()
    }

    #[test]
    fn tests_that_need_a_gpu_run_where_there_is_one() {
        let (usual, by_nextest, by_cargo) =
            (Some(Selection::Usual), Some(Selection::GpuByNextest), Some(Selection::GpuByCargo));
        assert_eq!(selections(true, false, &[]), [usual, None, None]);
        assert_eq!(selections(true, true, &[]), [usual, by_nextest, None, None]);
        assert_eq!(selections(true, true, &["--lib"]), [usual, by_nextest]);
        assert_eq!(selections(false, false, &[]), [usual, None]);
        assert_eq!(selections(false, true, &[]), [usual, by_cargo, None]);
        assert_eq!(selections(false, false, &["--test", "one"]), [usual]);
    }
}
