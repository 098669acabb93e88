//! The debuggers, and what they are told.
//!
//! On the CPU device a thread of a block runs on a stack of its own, among others of the same thread of the operating system. The runtime calls a
//! function with a known name when the wanted one is about to start; from there it is not far to the first line of the kernel.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use anyhow::Context;
use gpukernel_abi::report::STOP_FUNCTION;
use gpukernel_build::toolchain::{DeveloperTool, Environment, FindOptions};

use crate::kernels::Kernel;

/// A debugger.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Debugger {
    CudaGdb(PathBuf),
    Gdb(PathBuf),
    Lldb(PathBuf),
}

/// Where it is to stop, and what it does there.
#[derive(Debug)]
pub(super) struct Goal<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) block: [u32; 3],
    pub(super) thread: [u32; 3],
    /// If there are any, it ends after them.
    pub(super) commands: &'a [String],
}

impl Debugger {
    /// Finds one for kernels on a GPU or on the CPU.
    pub(super) fn find(is_gpu: bool) -> anyhow::Result<Self> {
        if is_gpu {
            let found = DeveloperTool::CudaGdb.require(&FindOptions::new(std::env::current_dir()?));
            let found = found.context(
                "kernels cannot be debugged on the GPU; `--device cpu` debugs them on the CPU, with gdb or lldb",
            )?;
            return Ok(Self::CudaGdb(found));
        }
        Self::on_path(&Environment::process()).context(
            "there is no debugger for the CPU device: gdb and lldb are not in PATH; install one (Debian: `apt install gdb`)",
        )
    }

    /// With Rust's own printers of values, if they are there.
    fn on_path(environment: &Environment) -> Option<Self> {
        let which = |name: &str| environment.which(name.as_ref());
        if let Some(gdb) = which("gdb") {
            return Some(Self::Gdb(which("rust-gdb").unwrap_or(gdb)));
        }
        let lldb = which("lldb")?;
        Some(Self::Lldb(which("rust-lldb").unwrap_or(lldb)))
    }

    /// The words before those of the program.
    pub(super) fn words(&self, script: &Path, ends: bool) -> Vec<OsString> {
        let (program, options, end) = match self {
            Self::CudaGdb(path) | Self::Gdb(path) => (path, ["--quiet", "--command"], "--args"),
            Self::Lldb(path) => (path, ["--no-use-colors", "--source"], "--"),
        };
        let mut words: Vec<OsString> = vec![program.into()];
        words.extend(ends.then(|| "--batch".into()));
        words.extend(options.map(OsString::from));
        words.push(script.into());
        words.push(end.into());
        words
    }

    /// What it is told.
    pub(super) fn script(&self, goal: &Goal<'_>) -> String {
        let Goal { kernel, block, thread, commands } = goal;
        let axes = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
        let mut lines: Vec<String> = Vec::new();
        let mut line = |text: &str| lines.push(text.to_owned());
        match self {
            Self::CudaGdb(_) => {
                line("set breakpoint pending on");
                line(&format!("tbreak {}", kernel.symbol));
                line("run");
                line(&format!("cuda block {} thread {}", axes(*block), axes(*thread)));
            }
            Self::Gdb(_) => {
                // Threads of the operating system come and go, and their starts are of no interest.
                line("set print thread-events off");
                line("set breakpoint pending on");
                line(&format!("tbreak {STOP_FUNCTION}"));
                line("commands");
                line("silent");
                line("set breakpoint pending off");
                // If this fails, the commands end here, and the stop is a few steps before the kernel.
                line(&format!("tbreak {}", function(kernel)));
                line("continue");
                line("end");
                line("run");
            }
            Self::Lldb(_) => {
                line(&format!("breakpoint set --one-shot true --name {STOP_FUNCTION}"));
                line("run");
                line(&format!("breakpoint set --one-shot true --name {}", function(kernel)));
                line("continue");
            }
        }
        lines.extend(commands.iter().cloned());
        lines.join("\n") + "\n"
    }
}

/// The function of a kernel as debuggers know it: `#[kernel]` puts it into a constant without a name, and instances of generic functions have their
/// arguments behind the name. Debuggers know types by their whole paths, so that of types in modules the name may be another.
fn function(kernel: &Kernel) -> String {
    let arguments = kernel.name.find('<').map_or("", |start| &kernel.name[start..]);
    match kernel.function.rsplit_once("::") {
        Some((module, name)) => format!("{module}::_::{name}{arguments}"),
        None => format!("{}{arguments}", kernel.function),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> Kernel {
        let name = "kernels::draft::scale<f32>".to_owned();
        Kernel { function: "kernels::draft::scale".to_owned(), name, symbol: "draft_scale_f32".to_owned() }
    }

    fn script(debugger: &Debugger) -> String {
        let commands = ["bt".to_owned()];
        debugger.script(&Goal { kernel: &kernel(), block: [3, 0, 0], thread: [7, 1, 0], commands: &commands })
    }

    #[test]
    fn gdb_goes_from_the_runtimes_function_to_the_kernel() {
        let text = script(&Debugger::Gdb("gdb".into()));
        assert!(text.contains("\ntbreak gpukernel_stop\ncommands\n"), "{text}");
        assert!(text.contains("\ntbreak kernels::draft::_::scale<f32>\ncontinue\nend\nrun\nbt\n"), "{text}");
    }

    #[test]
    fn cuda_gdb_stops_at_the_kernel_and_looks_at_the_thread() {
        let text = script(&Debugger::CudaGdb("cuda-gdb".into()));
        assert_eq!(
            text,
            "set breakpoint pending on\ntbreak draft_scale_f32\nrun\ncuda block (3,0,0) thread (7,1,0)\nbt\n"
        );
    }

    #[test]
    fn debuggers_get_the_program_last() {
        let words = Debugger::Gdb("/a b/gdb".into()).words("/c d".as_ref(), true);
        assert_eq!(words, ["/a b/gdb", "--batch", "--quiet", "--command", "/c d", "--args"]);
        let words = Debugger::Lldb("lldb".into()).words("s".as_ref(), false);
        assert_eq!(words, ["lldb", "--no-use-colors", "--source", "s", "--"]);
    }
}
