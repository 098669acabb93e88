//! Renders the Mandelbrot set on a GPU or on the CPU, and says how long that took.

mod render;
mod report;

use std::path::PathBuf;

use clap::{Parser, value_parser};
use example_support::On;
use mandelbrot_kernels::MAX_ITERATIONS;

use crate::render::Picture;

/// Render the Mandelbrot set from −2 to 1 and from −i to i
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Where to compute
    #[arg(long, value_enum, default_value_t = On::Best)]
    device: On,
    /// Pixels per row
    #[arg(long, default_value_t = 1536, value_parser = value_parser!(u32).range(1..=MAX_EXTENT))]
    width: u32,
    /// Rows of pixels
    #[arg(long, default_value_t = 1024, value_parser = value_parser!(u32).range(1..=MAX_EXTENT))]
    height: u32,
    /// How long a point has to stay inside to count as one of the set
    #[arg(long, default_value_t = 256, value_parser = value_parser!(u32).range(1..=i64::from(MAX_ITERATIONS)))]
    iterations: u32,
    /// The picture to write
    #[arg(long, value_name = "FILE.png", default_value = "mandelbrot.png")]
    output: PathBuf,
    /// Print the sum of all pixel values and the number of pixels that are 255
    #[arg(long)]
    stats: bool,
}

/// Keeps the number of pixels of a square picture below 2³².
const MAX_EXTENT: i64 = 65_535;

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let device = args.device.device()?;
    let picture =
        Picture { width: args.width as usize, height: args.height as usize, iterations: args.iterations };
    let (pixels, times) = render::render(&device, picture)?;

    println!("{device}: {} x {} pixels, {} iterations", args.width, args.height, args.iterations);
    print!("{}", report::table(&times, pixels.len()));
    if args.stats {
        println!("{}", report::stats(&pixels));
    }
    example_support::write_grey(&args.output, picture.width, &pixels)
}
