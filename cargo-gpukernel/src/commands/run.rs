//! `cargo gpukernel run`: sets up what is missing, then `cargo run`.

use std::{ffi::OsString, process::ExitCode};

use cargo_metadata::TargetKind;

use crate::{
    cargo,
    commands::setup,
    device,
    workspace::{Example, Workspace},
};

/// Build and run a program that launches kernels; installs missing parts of the toolchain first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run this example: an example target, or the package in the folder `examples/NAME`
    #[arg(long, value_name = "NAME", group = "target")]
    example: Option<String>,
    /// Run this binary
    #[arg(long, value_name = "NAME", group = "target")]
    bin: Option<String>,
    /// Run this package
    #[arg(short, long, value_name = "NAME")]
    package: Option<String>,
    #[command(flatten)]
    device: device::Selection,
    #[command(flatten)]
    cargo: cargo::Options,
    /// Arguments for the program
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
    workspace.check(&args.cargo, args.package.as_slice())?;
    workspace.check_targets(TargetKind::Bin, &args.bin, args.package.as_slice())?;
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

    setup::ensure_for(&args.cargo)?;
    let mut command = args.cargo.command(["run"], "--profile");
    args.device.apply(&mut command);
    command.args(selection).arg("--").args(&args.program_args);
    cargo::run(command)
}
