//! Renders the Mandelbrot set on a GPU or on the CPU, and says how long that took.

mod render;
mod report;

use std::{
    fs::File,
    io::BufWriter,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::{Parser, ValueEnum, value_parser};
use gpukernel::Device;
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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum On {
    /// The CPU
    Cpu,
    /// The first GPU
    Gpu,
    /// A GPU if there is one, else the CPU
    Best,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let device = match args.device {
        On::Cpu => Device::cpu(),
        On::Gpu => Device::gpu(0)?,
        On::Best => Device::best()?,
    };
    let picture =
        Picture { width: args.width as usize, height: args.height as usize, iterations: args.iterations };
    let (pixels, times) = render::render(&device, picture)?;

    println!("{device}: {} x {} pixels, {} iterations", args.width, args.height, args.iterations);
    print!("{}", report::table(&times, pixels.len()));
    if args.stats {
        println!("{}", report::stats(&pixels));
    }
    write_png(&args.output, args.width, args.height, &pixels)
        .with_context(|| format!("cannot write {}", args.output.display()))?;
    println!("{}", args.output.display());
    Ok(())
}

/// Writes pixels in shades of grey, row by row.
fn write_png(path: &Path, width: u32, height: u32, pixels: &[u8]) -> anyhow::Result<()> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    Ok(writer.finish()?)
}
