//! `cargo gpukernel debug`: starts a debugger that stops in one thread of one kernel: cuda-gdb on a GPU, gdb or lldb on the CPU device.

mod debugger;

use std::{
    fs,
    process::{Command, ExitCode},
};

use anyhow::Context;
use gpukernel_abi::report::{Event, STOP_VARIABLE};

use self::debugger::{Debugger, Goal};
use crate::{
    cargo,
    kernels::{Kernel, Kernels},
    program::{self, Found, Observed},
    report::{Report, launched, launches},
    status,
    workspace::Workspace,
};

/// Debug one thread of a kernel: cuda-gdb on a GPU, gdb or lldb on the CPU device
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The kernel: its path (`draft::saxpy`), the end of it, or a part of its name
    kernel: String,
    /// Stop in this block of the grid: `3`, or `3,0,0` along x, y and z
    #[arg(long, value_name = "INDEX", default_value = "0", value_parser = parse_index)]
    block: [u32; 3],
    /// Stop in this thread of the block: `7`, or `7,0,0` along x, y and z
    #[arg(long, value_name = "INDEX", default_value = "0", value_parser = parse_index)]
    thread: [u32; 3],
    /// Run this command of the debugger where it stops, and then end it, such as `--command bt --command 'info locals'`
    #[arg(long, value_name = "COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    observed: Observed,
}

/// A block in a grid or a thread in a block, along up to three axes.
fn parse_index(text: &str) -> Result<[u32; 3], String> {
    let mut index = [0; 3];
    let inner = text.trim().trim_start_matches('(').trim_end_matches(')');
    let parts: Vec<_> = inner.split(',').map(str::trim).collect();
    if parts.len() > index.len() {
        return Err("there are three axes: write `3`, `3,0` or `3,0,0`".to_owned());
    }
    for (axis, part) in index.iter_mut().zip(parts) {
        *axis = part
            .parse()
            .map_err(|_| format!("`{part}` is no index: write `3`, or `3,0,0` along x, y and z"))?;
    }
    Ok(index)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let is_gpu = args.observed.is_on_gpu();
    // Before anything is built.
    let debugger = Debugger::find(is_gpu)?;
    let adjust = |workspace: &Workspace, command: &mut Command| {
        if !is_gpu {
            debuggable(workspace, &args.observed.cargo, command);
        }
    };
    let Found { program, .. } = match args.observed.find(adjust)? {
        Ok(found) => found,
        Err(code) => return Ok(code),
    };
    let kernels = Kernels::of(&program.executable)?;
    let kernel = kernels.find(&args.kernel)?;
    let report = Report::new()?;
    let goal = Goal { kernel, block: args.block, thread: args.thread, commands: &args.command };
    let script = report.folder().join("debugger");
    fs::write(&script, debugger.script(&goal))
        .with_context(|| format!("cannot write {}", script.display()))?;
    let mut command = args.observed.command(&program, &debugger.words(&script, !args.command.is_empty()));
    if !is_gpu {
        command.env("GPUKERNEL_DEVICE", "cpu").env(STOP_VARIABLE, stop(kernel, args));
    }
    report.ask(&mut command);
    status::step("Debugging", format_args!("`{}`", kernel.name));
    let ended = program::run(&mut command)?;
    check_reached(args, kernel, &report.events()?, is_gpu)?;
    Ok(cargo::exit_code(ended.status))
}

/// Has cargo build kernels for the CPU as they are written, whatever the profile says: optimised code has hardly a variable left.
fn debuggable(workspace: &Workspace, options: &cargo::Options, command: &mut Command) {
    let profile = match (&options.profile, options.release) {
        (Some(profile), _) => profile,
        (None, true) => "release",
        (None, false) => "dev",
    };
    for package in workspace.kernel_crates() {
        for setting in ["opt-level=0", "debug=\"full\""] {
            command.args([
                "--config",
                &format!("profile.{profile}.package.{:?}.{setting}", package.name.as_str()),
            ]);
        }
    }
}

/// As the runtime reads it.
fn stop(kernel: &Kernel, args: &Args) -> String {
    let axes = |[x, y, z]: [u32; 3]| format!("{x},{y},{z}");
    format!("{}@{}@{}", kernel.name, axes(args.block), axes(args.thread))
}

/// That the kernel was launched with the thread.
fn check_reached(args: &Args, kernel: &Kernel, events: &[Event], is_gpu: bool) -> anyhow::Result<()> {
    if !is_gpu && events.contains(&Event::Stop) {
        return Ok(());
    }
    let axes = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    let of_kernel: Vec<_> = launches(events).filter(|launch| launch.kernel == kernel.name).collect();
    if of_kernel.is_empty() {
        let others = launched(events);
        anyhow::bail!(
            "the debugger did not stop: the program did not launch `{}`; it launched {others}",
            kernel.name
        );
    }
    let is_in = |index: [u32; 3], of: [u32; 3]| index.iter().zip(of).all(|(index, of)| *index < of);
    if !of_kernel.iter().any(|launch| is_in(args.block, launch.grid) && is_in(args.thread, launch.block)) {
        let shapes: Vec<_> = of_kernel
            .iter()
            .map(|launch| format!("{} blocks of {} threads", axes(launch.grid), axes(launch.block)))
            .collect();
        anyhow::bail!(
            "the debugger did not stop: `{}` was launched with {}, which have no thread {} of block {}",
            kernel.name,
            shapes.join(" and with "),
            axes(args.thread),
            axes(args.block)
        );
    }
    let device = &of_kernel[0].device;
    anyhow::ensure!(
        is_gpu || device == "cpu",
        "the debugger did not stop: the program launched `{}` on {device}, although GPUKERNEL_DEVICE is `cpu`; let it use `Device::best()`, \
         or choose `--device {device}`",
        kernel.name
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_up_to_three_axes() {
        for (text, index) in [("3", [3, 0, 0]), ("3,1", [3, 1, 0]), (" (3, 1,2) ", [3, 1, 2])] {
            assert_eq!(parse_index(text), Ok(index), "{text}");
        }
        for text in ["", "x", "-1", "1,", "1,2,3,4", "4294967296", "1 2"] {
            assert!(parse_index(text).is_err(), "{text}");
        }
    }
}
