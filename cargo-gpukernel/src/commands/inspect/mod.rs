//! `cargo gpukernel inspect`: what the compiler made of one kernel, line by line.

mod compare;
mod diff;
mod kernels;
mod page;
mod revision;
mod sources;
mod terminal;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use cargo_metadata::Package;
use clap::ValueEnum;
use gpukernel_build::{
    Arch, BuildInput, KernelFacts, Options, Profile,
    toolchain::{Driver, Environment},
};

use self::compare::{Comparison, Other};
use crate::{
    arch, cargo,
    commands::setup,
    output, status,
    table::{bytes, table},
    workspace::{self, Workspace},
};

/// Show Rust source beside the LLVM IR, PTX and machine code (SASS) of a kernel; without a name, list the kernels
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The kernel: its path (`draft::saxpy`), the end of it, or a part of its name
    kernel: Option<String>,
    /// Look in these kernel crates, or those that these packages depend on; default: all
    #[arg(short, long, value_name = "NAME")]
    package: Vec<String>,
    /// Show code for this architecture; default: that of this machine's GPU, or else the highest in the crate's Cargo.toml
    #[arg(long, value_name = "ARCH", value_parser = arch::parse)]
    arch: Option<Arch>,
    /// Show these forms of code
    #[arg(long, value_name = "FORM", value_delimiter = ',', default_value = "llvm-ir,ptx,sass")]
    view: Vec<View>,
    /// Write one self-contained HTML page instead, in which a line of source lights up its instructions
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    html: Option<Option<PathBuf>>,
    /// Print all of it as JSON instead
    #[arg(long, conflicts_with_all = ["html", "diff"])]
    json: bool,
    /// Compare with an architecture (`sm_80`), what `--json` printed (`FILE.json`), a kernel in CUDA C by nvcc (`FILE.cu[:NAME]`), or a commit
    #[arg(long, value_name = "OTHER", value_parser = Other::parse, conflicts_with = "html")]
    diff: Option<Other>,
    #[command(flatten)]
    cargo: cargo::Options,
}

/// A form of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum View {
    /// LLVM IR, as PTX is generated from it
    LlvmIr,
    /// PTX
    Ptx,
    /// Machine code
    Sass,
}

/// A kernel crate, and what is needed to build it.
struct Crate<'a> {
    package: &'a Package,
    input: BuildInput,
    /// For what is made to look at.
    dir: PathBuf,
}

impl<'a> Crate<'a> {
    /// Built where `build` does, so that nothing is built twice.
    fn new(
        args: &Args,
        package: &'a Package,
        target_dir: &Path,
        profile: Profile,
    ) -> Result<Self, gpukernel_build::Error> {
        let mut options = Options::of_crate(package.manifest_path.as_std_path())?;
        options.profile = profile;
        options.features = args.cargo.features_of(package);
        options.default_features = !args.cargo.no_default_features;
        options.cargo = args.cargo.for_kernels();
        // Budgets are for builds. Code is shown also if it exceeds them.
        options.budgets = Default::default();
        // Another architecture than those of the crate is built alone, and not in place of them.
        let other = args.arch.filter(|arch| !options.archs.contains(arch));
        options.archs = other.map_or(options.archs, |arch| vec![arch]);
        let folder = target_dir.join("gpukernel");
        let images = folder.join(if other.is_some() { "inspect" } else { "images" });
        Ok(Self {
            package,
            input: BuildInput {
                crate_path: package.manifest_path.clone().into(),
                out_dir: images.join(package.name.as_str()),
                target_dir: folder.clone(),
                options,
            },
            dir: folder.join("inspect").join(package.name.as_str()),
        })
    }

    /// The same build with files in a folder for what is made to look at.
    fn to_look_at(&self) -> BuildInput {
        BuildInput { out_dir: self.dir.clone(), ..self.input.clone() }
    }

    /// The architecture to show: that of this machine, or the highest.
    fn arch(&self, args: &Args) -> anyhow::Result<Arch> {
        let archs = &self.input.options.archs;
        let gpus = Driver::find(&Environment::process()).gpus;
        let native = gpus
            .iter()
            .filter_map(gpukernel_build::toolchain::Gpu::arch)
            .find_map(|gpu| archs.iter().copied().filter(|arch| arch.machine_code_runs_on(gpu)).max());
        args.arch
            .or(native)
            .or(archs.iter().copied().max())
            .with_context(|| format!("the crate `{}` is built for no architecture", self.package.name))
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::load_local(&args.cargo)?;
    let mut packages = workspace.selected_kernel_crates(&args.package)?;
    // A whole path says which crate it is in: others need not be built.
    let of_path = |package: &&Package| {
        let crate_name = args.kernel.as_deref().and_then(|path| path.split_once("::")).map(|(name, _)| name);
        crate_name.is_some_and(|name| workspace::library_name(package) == name)
    };
    if let Some(only) = packages.iter().copied().find(of_path) {
        packages = vec![only];
    }
    anyhow::ensure!(!packages.is_empty(), "the workspace at {} has no kernel crate", workspace.root());
    args.cargo.check_features(&packages)?;
    let profile = args.cargo.profile_kind(workspace.root().as_std_path(), Profile::Release)?;
    let toolchain = setup::ensure_for(&args.cargo)?;
    let target_dir = workspace.target_dir().as_std_path();
    let crates = packages
        .into_iter()
        .map(|package| Crate::new(args, package, target_dir, profile))
        .collect::<Result<Vec<_>, _>>()?;
    let Some(wanted) = &args.kernel else {
        status::print(list(
            &kernels::built(&crates.iter().collect::<Vec<_>>(), crates.len(), &toolchain)?,
            args.arch,
        ))?;
        return Ok(ExitCode::SUCCESS);
    };
    let (of, facts) = &kernels::the_one(wanted, &crates, args, &toolchain)?;
    let arch = of.arch(args)?;
    // What is wrong with the other side is said before anything is compiled.
    let other = args.diff.as_ref().map(|other| Comparison::prepare(other, of, &workspace)).transpose()?;
    let inspection = gpukernel_build::inspect(&of.to_look_at(), &toolchain, &facts.name, arch)?;
    match (other, &args.html) {
        (Some(other), _) => {
            let name = other.name();
            let other = other.run(of, &inspection, &toolchain)?;
            let names = [&*format!("{} {arch}", inspection.kernel), &name];
            status::print(diff::text(&inspection, &other, names))?;
        }
        (None, Some(file)) => {
            let default = || of.dir.join(format!("{}.{arch}.html", inspection.symbol));
            let file = file.clone().unwrap_or_else(default);
            output::write(&file, page::page(&inspection)?)?;
            status::print(format_args!("{}\n", file.display()))?;
        }
        (None, None) if args.json => {
            let text = serde_json::to_string(&inspection).context("cannot write JSON")?;
            status::print(format_args!("{text}\n"))?;
        }
        (None, None) => {
            let summary = terminal::summary(&inspection);
            status::print(format_args!("{summary}{}", terminal::listing(&inspection, &args.view)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// All kernels with the size of their machine code, for all architectures or one.
fn list(kernels: &[(&Crate<'_>, KernelFacts)], wanted: Option<Arch>) -> String {
    let mut table = table(["kernel", "declared at", "arch", "code", "regs", "panics"], 3);
    for (_, kernel) in kernels {
        let place = kernel.declared_at.as_ref().map(ToString::to_string).unwrap_or_default();
        let archs = kernel.archs.iter().filter(|(arch, _)| wanted.is_none_or(|wanted| wanted == **arch));
        let names =
            std::iter::once([kernel.name.clone(), place]).chain(std::iter::repeat_with(Default::default));
        for ([name, place], (arch, facts)) in names.zip(archs) {
            let unknown = || "?".to_owned();
            table.add_row([
                name,
                place,
                arch.to_string(),
                facts.code_bytes.map_or_else(unknown, bytes),
                facts.resources.map_or_else(unknown, |it| it.registers.to_string()),
                kernel.panics.len().to_string(),
            ]);
        }
    }
    match table.is_empty() {
        true => "there are no kernels\n".to_owned(),
        false => format!("{}\n", table.trim_fmt()),
    }
}
