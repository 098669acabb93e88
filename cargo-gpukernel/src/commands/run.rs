//! `cargo gpukernel run`: sets up what is missing, then `cargo run`.

use std::{ffi::OsString, process::ExitCode};

use crate::{cargo, commands::setup, device, program::Target, workspace::Workspace};

/// Build and run a program that launches kernels; installs missing parts of the toolchain first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    target: Target,
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
    args.target.check(&workspace, &args.cargo)?;
    let selection = args.target.words(&workspace, &args.cargo)?;
    setup::ensure_for(&args.cargo)?;
    let mut command = args.cargo.command(["run"], "--profile");
    args.device.apply(&mut command);
    command.args(selection).arg("--").args(&args.program_args);
    cargo::run(command)
}
