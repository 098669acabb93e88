//! `cargo gpukernel setup`: installs missing parts of the toolchain, and shows the report of `doctor`.

use std::{path::Path, process::ExitCode};

use clap::{ValueEnum, builder::PossibleValue};
use gpukernel_build::{
    setup::{self, SetupOptions},
    toolchain::{Environment, FindOptions, Report, Toolchain},
};

use crate::{cargo, commands::doctor, progress::Display, status};

/// Install missing parts of the toolchain into the user's cache folder, without root
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Use only files that were downloaded before, or placed in the cache's folder `downloads`
    #[arg(long)]
    offline: bool,
    /// Download and unpack everything again
    #[arg(long)]
    force: bool,
    /// Also install clang, which compiles CUDA C so that calls of it are inlined
    #[arg(long)]
    clang: bool,
    /// Also install NCCL, by which gpukernel-communicator moves elements between GPUs (216 MB)
    #[arg(long)]
    nccl: bool,
    /// Source of a rustc for device code if none is installed; also GPUKERNEL_SETUP_METHOD
    #[arg(long, value_name = "METHOD")]
    method: Option<Method>,
}

/// [`setup::Method`] as a word of the command line.
#[derive(Clone, Copy, Debug)]
struct Method(setup::Method);

impl ValueEnum for Method {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(setup::Method::Auto), Self(setup::Method::Rustup), Self(setup::Method::Distribution)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            setup::Method::Rustup => "rustup, into a folder in the cache",
            setup::Method::Distribution => "the distribution's packages, unpacked but not installed",
            _ => "rustup, or else the distribution's packages",
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let display = Display::default();
    let show = |event: gpukernel_build::toolchain::Event<'_>| display.show(event);
    let find = FindOptions::new(std::env::current_dir()?).progress(&show);
    let mut options = SetupOptions::new(find.clone()).force(args.force).clang(args.clang).nccl(args.nccl);
    if args.offline {
        options = options.offline(true);
    }
    if let Some(method) = args.method {
        options = options.method(method.0);
    }
    setup::setup(&options)?;
    let report = Report::collect(&find);
    status::print(doctor::Page(&report))?;
    Ok(if report.can_build { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the toolchain of the project in the current folder; installs what is missing first, and prints that.
pub(crate) fn ensure() -> anyhow::Result<Toolchain> {
    ensure_for(&cargo::Options::default())
}

/// The same for the project that these options choose, without the network if they say so.
pub(crate) fn ensure_for(options: &cargo::Options) -> anyhow::Result<Toolchain> {
    let display = Display::default();
    let show = |event: gpukernel_build::toolchain::Event<'_>| display.show(event);
    let here = std::env::current_dir()?;
    let manifest = options.manifest_path.as_ref().map(|manifest| here.join(manifest));
    let project = manifest.as_deref().and_then(Path::parent).unwrap_or(&here);
    let mut environment = Environment::process();
    if options.offline || options.frozen {
        environment = environment.with("CARGO_NET_OFFLINE", "true");
    }
    Ok(setup::ensure(&FindOptions::new(project).environment(environment).progress(&show))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_word() {
        for method in Method::value_variants() {
            let word = method.to_possible_value().unwrap();
            assert_eq!(word.get_name().parse::<setup::Method>().unwrap(), method.0);
        }
    }
}
