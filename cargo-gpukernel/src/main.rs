//! `cargo gpukernel`: set up, build, run, test and bundle Rust GPU kernels.
//!
//! The binary reads arguments and shows results; the work is done by `gpukernel-build` and by cargo.

mod cargo;
mod commands;
mod device;
mod kernel_name;
mod kernels;
mod program;
mod progress;
mod project;
mod report;
mod status;
mod table;
mod versions;
mod workspace;

use std::{ffi::OsString, process::ExitCode};

use clap::{CommandFactory, Parser, Subcommand};

use crate::commands::{
    bind, build, bundle, completions, debug, doctor, init, inspect, man, new, profile, run, sanitize, setup,
    test,
};

/// Compile Rust kernels for NVIDIA GPUs and for the CPU, and run, test and bundle the programs that launch them.
#[derive(Debug, Parser)]
#[command(name = "cargo gpukernel", bin_name = "cargo gpukernel", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(new::Args),
    Init(init::Args),
    Doctor(doctor::Args),
    Setup(setup::Args),
    Build(build::Args),
    Inspect(inspect::Args),
    Bind(bind::Args),
    Run(run::Args),
    Test(test::Args),
    Sanitize(sanitize::Args),
    Debug(debug::Args),
    Profile(profile::Args),
    Bundle(bundle::Args),
    Completions(completions::Args),
    Man(man::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse_from(arguments(std::env::args_os()));
    let result = match &cli.command {
        Command::New(args) => new::run(args),
        Command::Init(args) => init::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Setup(args) => setup::run(args),
        Command::Build(args) => build::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Bind(args) => bind::run(args),
        Command::Run(args) => run::run(args),
        Command::Test(args) => test::run(args),
        Command::Sanitize(args) => sanitize::run(args),
        Command::Debug(args) => debug::run(args),
        Command::Profile(args) => profile::run(args),
        Command::Bundle(args) => bundle::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    };
    result.unwrap_or_else(|error| {
        status::error(&error);
        ExitCode::FAILURE
    })
}

/// The description of all arguments, for what is generated of it, under the name of the program.
fn command() -> clap::Command {
    Cli::command().name("cargo-gpukernel")
}

/// `cargo gpukernel run` starts `cargo-gpukernel gpukernel run`: the second word is cargo's, not the user's.
fn arguments(given: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = given.into_iter().collect();
    if arguments.get(1).is_some_and(|word| word == "gpukernel") {
        arguments.remove(1);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(arguments(line.split_whitespace().map(OsString::from)))
    }

    #[test]
    fn the_definition_of_the_arguments_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn started_by_cargo_or_directly() {
        for line in ["cargo-gpukernel gpukernel doctor", "cargo-gpukernel doctor"] {
            assert!(matches!(parse(line).unwrap().command, Command::Doctor(_)), "{line}");
        }
    }

    #[test]
    fn what_follows_the_dashes_is_the_programs() {
        let cli =
            parse("cargo-gpukernel run --example mandelbrot --release -- --device cpu --release").unwrap();
        let Command::Run(args) = cli.command else { panic!("{cli:?}") };
        assert_eq!(args.program_args(), ["--device", "cpu", "--release"]);
    }

    #[test]
    fn one_target_at_a_time() {
        assert!(parse("cargo-gpukernel run --example a --bin b").is_err());
    }
}
