//! Functions of arrays, made of scalar functions: each program computes one on a device and says what came out.

mod arithmetic;
mod black_scholes;
mod colours;
mod gaussian_pdf;
mod inputs;
mod polar_distance;
mod primes;
mod round;

use std::{path::PathBuf, time::Instant};

use clap::{Parser, Subcommand, value_parser};
use example_support::On;
use gpukernel::Image;

static KERNELS: Image = gpukernel::image!("kernels");

/// Compute functions of arrays
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Where to compute
    #[arg(long, value_enum, default_value_t = On::Best, global = true)]
    device: On,
    #[command(subcommand)]
    program: Program,
}

#[derive(Debug, Subcommand)]
enum Program {
    /// Add a vector to a vector and to each row of a matrix
    Add,
    /// (a + b)² of an array and a number
    SquaredSum,
    /// Relative differences
    RelDiff,
    /// The density of the normal distribution for a million numbers; draws curves
    GaussianPdf {
        /// The picture to write
        #[arg(long, value_name = "FILE.png", default_value = "gaussian-pdf.png")]
        output: PathBuf,
    },
    /// The distances of a million pairs of points in polar coordinates
    PolarDistance,
    /// Round to decimals, half to even
    Round {
        /// Digits after the decimal point
        #[arg(long, default_value_t = 3, value_parser = value_parser!(i32).range(0..=15))]
        decimals: i32,
    },
    /// Find primes by one launch, and by one for each number; draws Ulam's spiral
    Primes {
        /// Below which number
        #[arg(long, default_value_t = 10_000, value_parser = value_parser!(u32).range(..=100_000_000))]
        below: u32,
        /// The picture to write
        #[arg(long, value_name = "FILE.png", default_value = "primes.png")]
        output: PathBuf,
    },
    /// Prices of a million options; draws the price by time and price of the stock
    BlackScholes {
        /// The picture to write
        #[arg(long, value_name = "FILE.png", default_value = "black-scholes.png")]
        output: PathBuf,
    },
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let device = args.device.device()?;
    let start = Instant::now();
    let module = device.load(&KERNELS)?;
    println!("{device}");
    match args.program {
        Program::Add => arithmetic::print_sums(&module),
        Program::SquaredSum => arithmetic::print_squared_sums(&module),
        Program::RelDiff => arithmetic::print_differences(&module),
        Program::GaussianPdf { output } => gaussian_pdf::print(&module, &output),
        Program::PolarDistance => polar_distance::print(&module),
        Program::Round { decimals } => round::print(&module, decimals),
        Program::Primes { below, output } => primes::print(&module, start, below, &output),
        Program::BlackScholes { output } => black_scholes::print(&module, &output),
    }
}

#[cfg(test)]
mod tests {
    use gpukernel::Module;

    use super::*;

    /// Runs a test on every device there is; a failure names the device.
    pub(crate) fn on_every_device(test: impl Fn(&Module) -> gpukernel_array::Result<()>) {
        for device in gpukernel::devices().unwrap() {
            device
                .load(&KERNELS)
                .map_err(Into::into)
                .and_then(|module| test(&module))
                .unwrap_or_else(|error| panic!("{device}: {error}"));
        }
    }

    #[test]
    fn options_are_parsed() {
        <Args as clap::CommandFactory>::command().debug_assert();
    }
}
