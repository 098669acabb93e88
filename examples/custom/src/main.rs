//! Types and allocators of one's own: intervals in kernels, and an allocator with a budget.

mod allocator;
mod interval;

use clap::{Parser, Subcommand, value_parser};
use example_support::On;

/// Use a type and an allocator of one's own
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Where to compute
    #[arg(long, value_enum, default_value_t = On::Best, global = true)]
    device: On,
    #[command(subcommand)]
    program: Program,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Program {
    /// Compute with intervals in a kernel, and with arrays of them
    Interval,
    /// Have the memory of buffers from an allocator with a budget
    Allocator {
        /// The most bytes that buffers have at a time, in MiB
        #[arg(long, value_name = "MIB", default_value_t = 10, value_parser = value_parser!(u16).range(5..=1024))]
        budget: u16,
    },
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let device = args.device.device()?;
    println!("{device}");
    match args.program {
        Program::Interval => interval::print(&device),
        Program::Allocator { budget } => Ok(allocator::print(&device, usize::from(budget) << 20)?),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use gpukernel::Device;

    use super::*;

    #[test]
    fn options_are_parsed() {
        <Args as clap::CommandFactory>::command().debug_assert();
    }

    /// Runs a test on every device there is, one test after another: the allocator of a device is that of all of its buffers.
    pub(crate) fn on_every_device(test: impl Fn(&Device) -> anyhow::Result<()>) {
        static ONE: Mutex<()> = Mutex::new(());
        let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        for device in gpukernel::devices().unwrap() {
            test(&device).unwrap_or_else(|error| panic!("{device}: {error}"));
        }
    }
}
