//! `cargo gpukernel build`: compiles the kernel crates of the workspace and shows what came out.

mod kernels;
pub(crate) mod messages;

use std::{fs, path::Path, process::ExitCode, time::Duration};

use anyhow::Context;
use cargo_metadata::Package;
use clap::{ValueEnum, builder::PossibleValue};
use comfy_table::Table;
use gpukernel_build::{Arch, BuildInput, Built, Emit, Error, Options, Profile, Timings, linker_passes};

use self::messages::Format;
use crate::{
    arch, cargo,
    commands::setup,
    status,
    table::{bytes, table},
    workspace::Workspace,
};

/// Compile the kernel crates of the workspace, without the programs that launch them
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Compile these kernel crates, or those that these packages depend on; default: all
    #[arg(short, long, value_name = "NAME")]
    package: Vec<String>,
    /// Compile for these architectures, such as `sm_80,sm_90`, instead of those in the crate's Cargo.toml
    #[arg(long, value_name = "ARCH", value_delimiter = ',', value_parser = arch::parse)]
    arch: Vec<Arch>,
    /// Also write files of these kinds, beside the image
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    emit: Vec<EmitKind>,
    /// Also write the code after these passes of the linker (`all`: after each), beside the image
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    emit_after: Vec<String>,
    /// List the passes of the linker, in the order in which they run, and build nothing
    #[arg(long)]
    list_passes: bool,
    /// Do not contract a·b+c to a fused multiply-add (nvcc's `-fmad=false`), even if the crate allows it
    #[arg(long)]
    no_contraction: bool,
    /// List the panics that are left in each kernel after optimisation, with their lines
    #[arg(long)]
    panics: bool,
    /// Also count the instructions for 64-bit numbers in the machine code, by nvdisasm if it is there
    #[arg(long)]
    instructions: bool,
    /// Form of the results
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    message_format: messages::Format,
    /// Show how long each step took, and each pass of the linker in it
    #[arg(long)]
    timings: bool,
    #[command(flatten)]
    cargo: cargo::Options,
}

/// [`Emit`] as a word of the command line.
#[derive(Clone, Copy, Debug)]
struct EmitKind(Emit);

impl ValueEnum for EmitKind {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self(Emit::LlvmIr),
            Self(Emit::Ptx),
            Self(Emit::Cubin),
            Self(Emit::Sass),
            Self(Emit::Fatbin),
            Self(Emit::Object),
            Self(Emit::Bitcode),
            Self(Emit::LtoIr),
            Self(Emit::Header),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (word, help) = match self.0 {
            Emit::LlvmIr => ("ll", "the optimised module as LLVM IR"),
            Emit::Ptx => ("ptx", "PTX of each architecture"),
            Emit::Cubin => ("cubin", "machine code (cubin) of each architecture"),
            Emit::Sass => ("sass", "disassembled machine code (SASS) of each architecture"),
            Emit::Fatbin => ("fatbin", "all architectures in one file, for `cuModuleLoad`"),
            Emit::Object => ("object", "exported functions as an object for nvcc to link"),
            Emit::Bitcode => ("bc", "exported functions as LLVM bitcode"),
            Emit::LtoIr => ("ltoir", "exported functions as LTO-IR, for `nvcc -dlto`"),
            Emit::Header => ("header", "the C header of exported functions"),
        };
        Some(PossibleValue::new(word).help(help))
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.list_passes {
        status::print(format_args!("{}\n", passes().trim_fmt()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let workspace = Workspace::load_local(&args.cargo)?;
    let crates = workspace.selected_kernel_crates(&args.package)?;
    anyhow::ensure!(
        !crates.is_empty(),
        "the workspace at {} has no kernel crate: a package with `gpukernel-std` under `[dependencies]` that does not \
         depend on `gpukernel`",
        workspace.root()
    );
    args.cargo.check_features(&crates)?;
    let profile = args.cargo.profile_kind(workspace.root().as_std_path(), Profile::Dev)?;
    let toolchain = setup::ensure_for(&args.cargo)?;
    for package in crates {
        status::step("Compiling", format_args!("{} for NVIDIA GPUs ({})", package.name, word(profile)));
        let folder = workspace.target_dir().join("gpukernel");
        let built = input(args, package, folder.as_std_path(), profile)
            .and_then(|input| gpukernel_build::build(&input, &toolchain));
        match (built, args.message_format) {
            (Ok(built), Format::Human) => present(package, &built, args)?,
            (Ok(built), Format::Json) => messages::print(&package.name, profile, &built)?,
            (Err(error), format) => {
                if let (Error::OverBudget(over), Format::Json) = (&error, format) {
                    messages::print_over_budget(&package.name, over)?;
                }
                let what = format!("cannot build the kernel crate `{}`", package.name);
                return Err(anyhow::Error::new(error).context(what));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn word(profile: Profile) -> &'static str {
    match profile {
        Profile::Dev => "dev: overflow checks and panic messages; `--release` for speed",
        Profile::Release => "release",
    }
}

/// Device code is built in the folder that build scripts use too, so that nothing is compiled twice.
fn input(args: &Args, package: &Package, folder: &Path, profile: Profile) -> Result<BuildInput, Error> {
    let mut options = Options::of_crate(package.manifest_path.as_std_path())?;
    if !args.arch.is_empty() {
        options.archs.clone_from(&args.arch);
    }
    options.emit = args.emit.iter().map(|kind| kind.0).collect();
    options.emit_after.clone_from(&args.emit_after);
    options.contraction &= !args.no_contraction;
    options.profile = profile;
    options.disassembles = args.instructions || args.message_format == Format::Json;
    options.features = args.cargo.features_of(package);
    options.default_features = !args.cargo.no_default_features;
    options.cargo = args.cargo.for_kernels();
    Ok(BuildInput {
        crate_path: package.manifest_path.clone().into(),
        target_dir: folder.to_owned(),
        out_dir: folder.join("images").join(package.name.as_str()),
        options,
    })
}

fn present(package: &Package, built: &Built, args: &Args) -> anyhow::Result<()> {
    status::print(format_args!("{}\n", package.name))?;
    for file in std::iter::once(&built.image).chain(&built.emitted) {
        let size = fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?.len();
        status::print(format_args!("  {} ({})\n", file.display(), bytes(size)))?;
    }
    if let Some(table) = kernels::resources(built) {
        status::print(format_args!("\n{table}"))?;
    }
    if let Some(table) = kernels::instructions(built).filter(|_| args.instructions) {
        status::print(format_args!("\n{table}"))?;
    }
    if args.panics {
        status::print(format_args!("\n{}", kernels::panics(built)))?;
    }
    if args.timings {
        status::print(format_args!("\n{}\n", steps(&built.timings).trim_fmt()))?;
    }
    Ok(())
}

/// The steps, with the linker's passes below them.
fn steps(timings: &Timings) -> Table {
    let seconds = |duration: Duration| format!("{:.3}", duration.as_secs_f64());
    let mut table = table(["step", "seconds"], 1);
    for step in timings.steps() {
        table.add_row([step.name.to_string(), seconds(step.duration)]);
        for (pass, duration) in &step.passes {
            table.add_row([format!("  {pass}"), seconds(*duration)]);
        }
    }
    table.add_row(["total".to_owned(), seconds(timings.total())]);
    table
}

fn passes() -> Table {
    let mut table = table(["step", "pass", "does"], 3);
    let mut last = "";
    for pass in linker_passes() {
        let step = if pass.step == last { "" } else { pass.step };
        last = pass.step;
        table.add_row([step, pass.name, pass.does]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_file_has_a_word() {
        for kind in EmitKind::value_variants() {
            let word = kind.to_possible_value().unwrap();
            assert_eq!(EmitKind::from_str(word.get_name(), false).unwrap().0, kind.0);
        }
    }
}
