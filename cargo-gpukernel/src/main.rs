//! `cargo gpukernel`: set up, build, run, test, measure and bundle Rust GPU kernels.
//!
//! The binary reads arguments and shows results; the work is done by `gpukernel-build` and by cargo.

mod arch;
mod cargo;
mod commands;
mod console;
mod device;
mod interrupt;
mod kernel_name;
mod kernels;
mod output;
mod program;
mod progress;
mod project;
mod report;
mod status;
mod suggest;
mod table;
mod versions;
mod workspace;

use std::{ffi::OsString, process::ExitCode};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    bench, bind, build, bundle, completions, debug, doctor, init, inspect, man, new, profile, run, sanitize,
    setup, test,
};

/// Compile Rust kernels for NVIDIA GPUs and for the CPU, and run, test and bundle the programs that launch them.
#[derive(Debug, Parser)]
#[command(name = "cargo gpukernel", bin_name = "cargo gpukernel", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    console: console::Options,
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
    Bench(bench::Args),
    Sanitize(sanitize::Args),
    Debug(debug::Args),
    Profile(profile::Args),
    Bundle(bundle::Args),
    Completions(completions::Args),
    Man(man::Args),
}

fn main() -> ExitCode {
    let arguments = arguments(std::env::args_os());
    let cli = parse(&arguments).unwrap_or_else(|error| error.exit());
    cli.console.choose();
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
        Command::Bench(args) => bench::run(args),
        Command::Sanitize(args) => sanitize::run(args),
        Command::Debug(args) => debug::run(args),
        Command::Profile(args) => profile::run(args),
        Command::Bundle(args) => bundle::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    };
    result.unwrap_or_else(|error| {
        status::error(&error);
        interrupt::exit_code().map_or(ExitCode::FAILURE, ExitCode::from)
    })
}

/// Reads the command line; help and errors are in colours as it says.
fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let color = console::color_of_help(console::color_in(arguments));
    let mut command = Cli::command().color(color);
    let matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
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
        super::parse(&arguments(line.split_whitespace().map(OsString::from)))
    }

    #[test]
    fn the_definition_of_the_arguments_holds_together() {
        Cli::command().debug_assert();
    }

    /// A new command cannot forget them, and none has another option of these names.
    #[test]
    fn every_command_has_the_options_of_all() {
        let mut command = Cli::command();
        command.build();
        for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
            let name = subcommand.get_name();
            for (long, short) in [("color", None), ("verbose", Some('v')), ("quiet", Some('q'))] {
                let found: Vec<_> = subcommand
                    .get_arguments()
                    .filter(|arg| arg.get_long() == Some(long) || arg.get_short() == short && short.is_some())
                    .collect();
                let [arg] = found[..] else { panic!("{name}: {found:?}") };
                assert_eq!((arg.get_long(), arg.get_short()), (Some(long), short), "{name}");
                assert_eq!(arg.get_help_heading(), Some("Options of all commands"), "{name} --{long}");
            }
            // Those that read a workspace read it by the same options.
            let has = |long: &str| subcommand.get_arguments().any(|arg| arg.get_long() == Some(long));
            if has("target-dir") {
                for long in [
                    "manifest-path",
                    "release",
                    "profile",
                    "features",
                    "all-features",
                    "no-default-features",
                    "jobs",
                    "locked",
                    "offline",
                    "frozen",
                ] {
                    assert!(has(long), "{name} has no --{long}");
                }
            }
        }
    }

    /// One style: no full stop at the end of what an option or a command says of itself, and a verb first.
    #[test]
    fn help_is_in_one_style() {
        let mut command = Cli::command();
        command.build();
        for subcommand in command.get_subcommands() {
            let name = subcommand.get_name();
            let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && about.len() <= 120 && !about.ends_with('.'), "{name}: {about}");
            for arg in subcommand.get_arguments() {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let of = format!("{name} {}: {help}", arg.get_id());
                assert!(help.chars().next().is_some_and(char::is_uppercase), "{of}");
                assert!(!help.ends_with('.') && !help.contains("\n"), "{of}");
                if arg.get_action().takes_values() && !arg.is_positional() {
                    let value = arg.get_value_names().unwrap_or_default();
                    let is_upper =
                        |name: &str| name.chars().all(|c| c.is_ascii_uppercase() || "_=".contains(c));
                    assert!(!value.is_empty() && value.iter().all(|name| is_upper(name)), "{of}: {value:?}");
                }
            }
        }
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
