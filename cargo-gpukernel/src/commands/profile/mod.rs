//! `cargo gpukernel profile`: one kernel under Nsight Compute, or a program under Nsight Systems; the result as a short table and a file for their
//! windows.

mod ncu;
mod nsys;

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::Context;
use clap::ValueEnum;
use gpukernel_abi::report::Event;
use gpukernel_build::toolchain::{DeveloperTool, FindOptions};

use crate::{
    kernels::{Kernel, Kernels},
    program::{self, Found, Observed, Program},
    report::{Report, launched, launches},
    status,
};

/// Profile one kernel by Nsight Compute (ncu), or draw the timeline of a program by Nsight Systems (nsys); needs a GPU
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The kernel: its path (`draft::saxpy`), the end of it, or a part of its name; nsys shows all without one
    kernel: Option<String>,
    /// The profiler
    #[arg(long, value_name = "TOOL", default_value = "ncu")]
    tool: Tool,
    /// Profile this many launches of the kernel
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    launches: u32,
    /// Skip this many launches of the kernel before
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u32,
    /// The metrics that ncu collects: a set that `ncu --list-sets` names
    #[arg(long, value_name = "NAME", default_value = "full")]
    set: String,
    /// Write the profiler's report here; default: `target/gpukernel/profile/KERNEL.ncu-rep` or `.nsys-rep`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Pass this option to the profiler, such as `--profiler-option=--clock-control=none`
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    profiler_option: Vec<String>,
    #[command(flatten)]
    observed: Observed,
}

/// A profiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tool {
    /// Nsight Compute: what one kernel does with the GPU
    Ncu,
    /// Nsight Systems: when each kernel runs
    Nsys,
}

impl Tool {
    fn program(self) -> DeveloperTool {
        match self {
            Self::Ncu => DeveloperTool::Ncu,
            Self::Nsys => DeveloperTool::Nsys,
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Ncu => "ncu-rep",
            Self::Nsys => "nsys-rep",
        }
    }
}

/// What a profiler runs.
struct Session<'a> {
    args: &'a Args,
    profiler: &'a Path,
    program: &'a Program,
    kernels: &'a Kernels,
    kernel: Option<&'a Kernel>,
    /// The file for the profiler's window.
    file: &'a Path,
    report: &'a Report,
}

impl Session<'_> {
    /// Runs the program with these words before it.
    fn run(&self, words: &[OsString]) -> anyhow::Result<program::Ended> {
        let mut command = self.args.observed.command(self.program, words);
        self.report.ask(&mut command);
        program::run(&mut command)
    }

    /// What the profiler says about its file.
    fn read(&self, words: &[OsString]) -> anyhow::Result<String> {
        let mut command = Command::new(self.profiler);
        let output = command
            .args(words)
            .output()
            .with_context(|| format!("cannot start {}", self.profiler.display()))?;
        anyhow::ensure!(
            output.status.success(),
            "{} cannot read {}: {}",
            self.profiler.display(),
            self.file.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Why there is nothing to show of the kernel.
    fn nothing(&self, ended: &program::Ended) -> anyhow::Error {
        let events = match self.report.events() {
            Ok(events) => events,
            Err(error) => return error,
        };
        let profiler = self.args.tool.program();
        match self.kernel.filter(|kernel| !is_launched(kernel, &events)) {
            Some(kernel) => {
                anyhow::anyhow!(
                    "the program did not launch `{}`; it launched {}",
                    kernel.name,
                    launched(&events)
                )
            }
            None => anyhow::anyhow!(
                "{profiler} has measured nothing ({}); it says why above: often a user may not read the GPU's counters (ERR_NVGPUCTRPERM), \
                 which root may, and which the administrator allows by the driver's option NVreg_RestrictProfilingToAdminUsers=0",
                ended.status
            ),
        }
    }
}

/// The profilers add their extension if it is not there.
fn with_extension(file: &Path, extension: &str) -> PathBuf {
    match file.extension().is_some_and(|found| found == extension) {
        true => file.to_owned(),
        false => {
            let mut name = file.as_os_str().to_owned();
            name.push(format!(".{extension}"));
            name.into()
        }
    }
}

fn is_launched(kernel: &Kernel, events: &[Event]) -> bool {
    launches(events).any(|launch| launch.kernel == kernel.name)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        args.observed.is_on_gpu(),
        "{} measures kernels on GPUs, and the program would run on the CPU device: choose `--device gpu` on a machine with a GPU",
        args.tool.program()
    );
    anyhow::ensure!(
        args.kernel.is_some() || args.tool == Tool::Nsys,
        "ncu profiles one kernel: name it, as `cargo gpukernel inspect` lists them"
    );
    let profiler = args.tool.program().require(&FindOptions::new(std::env::current_dir()?))?;
    let Found { program, output, .. } = match args.observed.find(|_, _| ())? {
        Ok(found) => found,
        Err(code) => return Ok(code),
    };
    let kernels = Kernels::of(&program.executable)?;
    let kernel = args.kernel.as_deref().map(|name| kernels.find(name)).transpose()?;
    let file = match &args.output {
        Some(file) => with_extension(file, args.tool.extension()),
        None => {
            let name = kernel.map_or("program", |kernel| kernel.symbol.as_str());
            output.join(format!("{name}.{}", args.tool.extension()))
        }
    };
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    let report = Report::new()?;
    let session = Session {
        args,
        profiler: &profiler,
        program: &program,
        kernels: &kernels,
        kernel,
        file: &file,
        report: &report,
    };
    let table = match args.tool {
        Tool::Ncu => ncu::profile(&session)?,
        Tool::Nsys => nsys::profile(&session)?,
    };
    status::print(format_args!("{table}\nreport: {}\n", file.display()))?;
    Ok(ExitCode::SUCCESS)
}
