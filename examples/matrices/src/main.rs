//! Transposes, products, sums, extremes and normalised rows of matrices.

mod batches;
mod normalise;
mod product;
mod sum;
mod transpose;

use std::time::Duration;

use clap::{Parser, Subcommand, value_parser};
use example_support::On;
use gpukernel::Image;

static KERNELS: Image = gpukernel::image!("kernels");

/// Compute with matrices
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
    /// Transpose a matrix element by element, and by tiles in shared memory
    Transpose {
        /// Rows and columns
        #[arg(long, default_value_t = 1024, value_parser = value_parser!(u32).range(1..=16_384))]
        size: u32,
    },
    /// Multiply two matrices with and without shared memory
    Product {
        /// Rows and columns
        #[arg(long, default_value_t = 512, value_parser = value_parser!(u32).range(1..=16_384))]
        size: u32,
    },
    /// Multiply a thousand pairs of small matrices
    BatchedProduct,
    /// Find the largest and the smallest number of each row
    MaxMin,
    /// Add 1234 numbers
    Sum,
    /// Divide each row of a matrix by its mean
    Normalise,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let device = args.device.device()?;
    let module = device.load(&KERNELS)?;
    println!("{device}");
    match args.program {
        Program::Transpose { size } => transpose::print(&module, size as usize)?,
        Program::Product { size } => product::print(&module, size as usize)?,
        Program::BatchedProduct => batches::print_products(&module)?,
        Program::MaxMin => batches::print_extremes(&module)?,
        Program::Sum => sum::print(&module)?,
        Program::Normalise => normalise::print(&module)?,
    }
    Ok(())
}

/// One line for each version, with its speed in units of the first.
fn print_times(times: &[(&str, Duration)]) {
    for (name, time) in times {
        let speed = times[0].1.as_secs_f64() / time.as_secs_f64();
        println!("{name:<26} {:>10.4} ms, {speed:.2} times as fast", time.as_secs_f64() * 1e3);
    }
}

#[cfg(test)]
mod tests {
    use gpukernel::Module;

    use super::*;

    /// Runs a test on every device there is; a failure names the device.
    pub(crate) fn on_every_device(test: impl Fn(&Module) -> gpukernel_array::Result<()>) {
        for device in gpukernel::devices().unwrap() {
            let module = device.load(&KERNELS).unwrap();
            test(&module).unwrap_or_else(|error| panic!("{device}: {error}"));
        }
    }

    #[test]
    fn options_are_parsed() {
        <Args as clap::CommandFactory>::command().debug_assert();
    }
}
