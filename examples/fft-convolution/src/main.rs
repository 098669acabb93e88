//! Filters a noisy picture by FFT: the spectrum of a convolution is the product of two spectra.

mod convolution;
mod libraries;
mod picture;

use std::path::PathBuf;

use anyhow::ensure;
use clap::{Parser, value_parser};
use example_support::On;

use crate::{
    convolution::{Filter, Filtered, Noise},
    libraries::Extents,
};

/// Add noise to a picture and filter it, by cuFFT, cuBLAS and cuRAND on a GPU, by rustfft on the CPU
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Where to compute
    #[arg(long, value_enum, default_value_t = On::Best)]
    device: On,
    /// Pixels per row, an even number
    #[arg(long, default_value_t = 512, value_parser = even)]
    width: u32,
    /// Rows of pixels, an even number
    #[arg(long, default_value_t = 512, value_parser = even)]
    height: u32,
    /// Pixels from the middle of the filter to its edge
    #[arg(long, default_value_t = 6, value_parser = value_parser!(u32).range(0..=100))]
    radius: u32,
    /// The standard deviation of the noise; white is 1
    #[arg(long, default_value_t = 0.5)]
    noise: f32,
    /// What the noise depends on
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The picture to write: clean, with noise, filtered
    #[arg(long, value_name = "FILE.png", default_value = "fft-convolution.png")]
    output: PathBuf,
}

/// An extent of a picture.
fn even(text: &str) -> Result<u32, String> {
    let extent: u32 = text.parse().map_err(|error| format!("{error}"))?;
    match extent {
        2..=16_384 if extent.is_multiple_of(2) => Ok(extent),
        _ => Err("it is an even number from 2 to 16384".to_owned()),
    }
}

/// The largest difference from the direct convolution that rounding explains.
const ALLOWED_ERROR: f64 = 1e-5;

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let device = args.device.device()?;
    let extents = Extents { rows: args.height as usize, columns: args.width as usize };
    let filter = Filter { radius: args.radius as usize, deviation: args.radius as f32 / 3.0 + 0.5 };
    let size = filter.size();
    ensure!(
        size <= extents.rows && size <= extents.columns,
        "a filter of {size} x {size} pixels is larger than the picture; choose a smaller --radius"
    );
    let clean = picture::zone_plate(extents);
    let noise = Noise { seed: args.seed, deviation: args.noise };
    let Filtered { noisy, smooth, time } = convolution::run(&device, &clean, extents, noise, filter)?;

    println!("{device}: {} x {} pixels, filter {size} x {size}", args.width, args.height);
    println!("convolution {:>10.3} ms", time.as_secs_f64() * 1e3);
    let step = (extents.pixels() / 10_000).max(1);
    let error = picture::largest_error(&noisy, &smooth, extents, filter, step);
    println!("largest difference from a direct convolution: {error:.1e}");
    ensure!(error < ALLOWED_ERROR, "the result is wrong: rounding explains {ALLOWED_ERROR:e}");

    let rows = |picture: &[f32]| picture.chunks(extents.columns).map(<[f32]>::to_vec).collect::<Vec<_>>();
    let panels = [rows(&clean), rows(&noisy), rows(&smooth)];
    let pixels: Vec<u8> = (0..extents.rows)
        .flat_map(|row| panels.iter().flat_map(move |panel| &panel[row]))
        .map(|pixel| (255.0 * pixel.clamp(0.0, 1.0)).round() as u8)
        .collect();
    example_support::write_grey(&args.output, 3 * extents.columns, &pixels)
}
