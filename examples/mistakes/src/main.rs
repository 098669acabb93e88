//! Kernels with a mistake, and how it is found: each is launched as it is, and as it should be.
//!
//! `cargo gpukernel sanitize --example mistakes -- counter` shows what is found with its source.

mod counter;
mod histogram;
mod off_by_one;

use std::fmt::Debug;

use clap::{Parser, Subcommand};
use example_support::On;
use gpukernel::{Image, Result};

static KERNELS: Image = gpukernel::image!("kernels");

/// Launch kernels with a mistake, and as they should be
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
    /// Increment a counter in 64 x 64 threads: a data race, which the CPU device finds with GPUKERNEL_CHECK=1
    Counter,
    /// Count numbers in bins, one of which lies behind the last
    Histogram,
    /// Compute the reciprocals of 10 numbers in 32 threads, one of which has no number
    Reciprocal,
    /// Add 1 to 10 numbers in 32 threads, one of which has no number
    #[command(name = "add-1")]
    Add1,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let device = args.device.device()?;
    let module = device.load(&KERNELS)?;
    println!("{device}");
    match args.program {
        Program::Counter => print(counter::racy(&module), counter::atomic(&module)?),
        Program::Histogram => {
            let counts = histogram::checked(&module)?;
            let picture = histogram::picture(&counts);
            print(histogram::out_of_bounds(&module), counts);
            print!("{picture}");
        }
        Program::Reciprocal => {
            print(off_by_one::wrong_reciprocals(&module), off_by_one::reciprocals(&module)?);
        }
        Program::Add1 => print(off_by_one::wrong_sums(&module), off_by_one::sums(&module)?),
    }
    Ok(())
}

/// Prints what came of a mistake, and the result without it.
fn print<T: Debug>(mistaken: Result<T>, corrected: T) {
    match mistaken {
        Ok(result) => println!("with the mistake: {result:?}"),
        Err(error) => println!("with the mistake: {error}"),
    }
    println!("without: {corrected:?}");
}

#[cfg(test)]
mod tests {
    use std::{
        process::Command,
        sync::{Mutex, MutexGuard, PoisonError},
        thread,
    };

    use gpukernel::{Device, Error, Module};

    use super::*;

    #[test]
    fn options_are_parsed() {
        <Args as clap::CommandFactory>::command().debug_assert();
    }

    /// Keeps other tests waiting as long as the result is there: an error of a kernel is that of whoever waits next.
    fn alone() -> MutexGuard<'static, ()> {
        static ONE: Mutex<()> = Mutex::new(());
        ONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a test on every device there is.
    pub(crate) fn on_every_device(test: impl Fn(&Module) -> Result<()>) {
        let _alone = alone();
        for device in gpukernel::devices().unwrap() {
            let module = device.load(&KERNELS).unwrap();
            test(&module).unwrap_or_else(|error| panic!("{device}: {error}"));
        }
    }

    /// Runs a test on the CPU device with `GPUKERNEL_CHECK=1`: in a process of its own, because it is read once.
    pub(crate) fn with_checks(test: impl FnOnce(&Module) -> Result<()>) {
        if std::env::var_os("GPUKERNEL_CHECK").is_some_and(|value| value == "1") {
            let _alone = alone();
            return Device::cpu().load(&KERNELS).and_then(|module| test(&module)).unwrap();
        }
        let name = thread::current().name().map(str::to_owned).unwrap();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &name, "--nocapture"])
            .env("GPUKERNEL_CHECK", "1")
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}\n{stderr}");
    }

    /// `file:line:` of the only line of a source file with these words.
    pub(crate) fn place(file: &str, source: &str, words: &str) -> String {
        let mut lines =
            source.lines().zip(1..).filter(|(line, _)| line.contains(words)).map(|(_, line)| line);
        let (Some(line), None) = (lines.next(), lines.next()) else { panic!("{words} is not in one line") };
        format!("{file}:{line}:")
    }

    /// Checks what a panic says: on a GPU, release builds have no messages.
    #[track_caller]
    pub(crate) fn check_panic(
        device: &Device,
        error: Error,
        place: &str,
        (block_x, thread_x): (u32, u32),
        expected: &str,
    ) {
        let Error::KernelPanicked { location: Some(location), block, thread, message, .. } = &error else {
            panic!("{error}")
        };
        assert!(location.contains(place), "{location} is not {place}");
        assert_eq!([block.x, block.y, block.z], [block_x, 0, 0], "{error}");
        assert_eq!([thread.x, thread.y, thread.z], [thread_x, 0, 0], "{error}");
        if cfg!(debug_assertions) || !device.is_gpu() {
            assert_eq!(message, expected);
        }
    }
}
