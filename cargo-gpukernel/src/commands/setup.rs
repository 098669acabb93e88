//! `cargo gpukernel setup`: gets what is missing to build kernels, and shows what there is then.

use std::process::ExitCode;

use clap::{ValueEnum, builder::PossibleValue};
use gpukernel_build::{
    setup::{self, SetupOptions},
    toolchain::{FindOptions, Report, Toolchain},
};

use crate::{commands::doctor, progress::Display, status};

/// Get what is missing to build kernels into the user's cache, without root
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Use only what was downloaded before, or put into the cache's folder `downloads` by hand
    #[arg(long)]
    offline: bool,
    /// Get and unpack everything again
    #[arg(long)]
    force: bool,
    /// Get clang too: it compiles functions in CUDA C so that calls of them inline
    #[arg(long)]
    clang: bool,
    /// Where a Rust that can compile kernels comes from, if there is none; also GPUKERNEL_SETUP_METHOD
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
            setup::Method::Rustup => "rustup, into a folder of gpukernel's own",
            setup::Method::Distribution => "the distribution's packages, unpacked instead of installed",
            _ => "rustup, else the distribution",
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let display = Display::default();
    let show = |event: gpukernel_build::toolchain::Event<'_>| display.show(event);
    let find = FindOptions::new(std::env::current_dir()?).progress(&show);
    let mut options =
        SetupOptions::new(find.clone()).offline(args.offline).force(args.force).clang(args.clang);
    if let Some(method) = args.method {
        options = options.method(method.0);
    }
    setup::setup(&options)?;
    let report = Report::collect(&find);
    status::print(doctor::Page(&report))?;
    Ok(if report.can_build { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The toolchain; one is set up first, and that is said, if there is none.
pub(crate) fn ensure() -> anyhow::Result<Toolchain> {
    let display = Display::default();
    let show = |event: gpukernel_build::toolchain::Event<'_>| display.show(event);
    Ok(setup::ensure(&FindOptions::new(std::env::current_dir()?).progress(&show))?)
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
