//! `cargo gpukernel build`: compiles the kernel crates of the workspace and shows what came out.

use std::{path::Path, process::ExitCode, time::Duration};

use anyhow::Context;
use cargo_metadata::Package;
use gpukernel_build::{Builder, Emit, Report};
use gpukernel_image::{Arch, Manifest};

use crate::{cargo, commands::setup, status, table::Table, workspace::Workspace};

/// Compile the kernel crates of the workspace, without the programs that launch them
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The kernel crates to compile, or packages that depend on some; all, if none is named
    #[arg(short, long, value_name = "NAME")]
    package: Vec<String>,
    /// The architectures to compile for, such as `sm_80,sm_90`; the crate's own choice, if none is named
    #[arg(long, value_name = "ARCH", value_delimiter = ',')]
    arch: Vec<Arch>,
    /// What to write beside the image
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    emit: Vec<Emit>,
    /// Show how long each step took
    #[arg(long)]
    timings: bool,
    #[command(flatten)]
    cargo: cargo::Options,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::load(&args.cargo)?;
    let crates = workspace.selected_kernel_crates(&args.package)?;
    anyhow::ensure!(
        !crates.is_empty(),
        "the workspace at {} has no kernel crate: a package with `gpu-std` under `[dependencies]` that does not \
         depend on `gpukernel`",
        workspace.root()
    );
    setup::ensure()?;
    for package in crates {
        status::step("Compiling", format_args!("{} for NVIDIA GPUs", package.name));
        let folder = workspace.target_dir().join("gpukernel").join(package.name.as_str());
        let report = compile(args, package, folder.as_std_path())
            .with_context(|| format!("cannot build the kernel crate `{}`", package.name))?;
        present(package, &report, args.timings);
    }
    Ok(ExitCode::SUCCESS)
}

fn compile(args: &Args, package: &Package, folder: &Path) -> Result<Report, gpukernel_build::Error> {
    let crate_folder = package.manifest_path.parent().unwrap_or(&package.manifest_path);
    let mut builder = Builder::new(crate_folder).out_dir(folder).release(args.cargo.release);
    if !args.arch.is_empty() {
        builder = builder.architectures(args.arch.iter().copied());
    }
    for &kind in &args.emit {
        builder = builder.emit(kind);
    }
    builder.compile()
}

fn present(package: &Package, report: &Report, timings: bool) {
    println!("{}", package.name);
    for file in &report.files {
        let arch = file.arch.map(|arch| arch.to_string()).unwrap_or_default();
        println!("  {:<8}{arch:<8}{}", file.kind, file.path.display());
    }
    println!();
    if let Some(table) = resources(&report.manifest) {
        println!("{table}");
    }
    if timings {
        println!("{}", steps(&report.steps));
    }
}

/// What ptxas says that the kernels need, if there was a ptxas.
fn resources(manifest: &Manifest) -> Option<Table> {
    let mut table = Table::new(["kernel", "arch", "registers", "stack", "spilled", "shared"]);
    let mut any = false;
    for kernel in &manifest.kernels {
        for (arch, needs) in &kernel.resources {
            any = true;
            table.row([
                kernel.name.clone(),
                arch.to_string(),
                needs.registers.to_string(),
                format!("{} B", needs.stack_bytes),
                format!("{} B", needs.spill_store_bytes + needs.spill_load_bytes),
                format!("{} B", needs.shared_bytes),
            ]);
        }
    }
    any.then_some(table)
}

fn steps(steps: &[gpukernel_build::Step]) -> Table {
    let mut table = Table::new(["step", "seconds"]);
    let mut seconds = |name: &str, time: Duration| {
        table.row([name.to_owned(), format!("{:.3}", time.as_secs_f64())]);
    };
    for step in steps {
        seconds(&step.name, step.duration);
    }
    seconds("all", steps.iter().map(|step| step.duration).sum());
    table
}
