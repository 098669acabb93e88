//! `cargo gpukernel run`: sets up what is missing, then `cargo run`.

use std::{ffi::OsString, process::ExitCode};

use crate::{
    cargo,
    commands::setup,
    workspace::{Example, Workspace},
};

/// Build and run a program that launches kernels; sets up the toolchain first if it is missing
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The example to run: an example target, or the package in the folder `examples/NAME`
    #[arg(long, value_name = "NAME", group = "target")]
    example: Option<String>,
    /// The binary to run
    #[arg(long, value_name = "NAME", group = "target")]
    bin: Option<String>,
    /// The package to run
    #[arg(short, long, value_name = "NAME")]
    package: Option<String>,
    #[command(flatten)]
    cargo: cargo::Options,
    /// What the program gets
    #[arg(last = true, value_name = "PROGRAM ARGS")]
    program_args: Vec<OsString>,
}

impl Args {
    #[cfg(test)]
    pub(crate) fn program_args(&self) -> &[OsString] {
        &self.program_args
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::load(&args.cargo)?;
    let mut selection: Vec<&str> = Vec::new();
    if let Some(name) = &args.example {
        match (workspace.example(name)?, &args.package) {
            (Example::Package(package), _) => selection.extend(["--package", package]),
            (Example::Target { .. }, Some(package)) => {
                selection.extend(["--package", package, "--example", name]);
            }
            (Example::Target { package }, None) => {
                selection.extend(["--package", package, "--example", name])
            }
        }
    } else {
        selection.extend(args.package.iter().flat_map(|name| ["--package", name]));
        selection.extend(args.bin.iter().flat_map(|name| ["--bin", name]));
    }

    setup::ensure()?;
    let mut command = args.cargo.command(["run"], "--profile");
    command.args(selection).arg("--").args(&args.program_args);
    cargo::run(command)
}
