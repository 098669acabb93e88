//! Estimates π: of random points in the unit square, π/4 lie within the circle around its corner.

mod estimate;

use clap::{Parser, value_parser};
use example_support::On;

use crate::estimate::Experiment;

/// Estimate π from random points, whose numbers are those of Numba's xoroshiro128+
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Where to compute
    #[arg(long, value_enum, default_value_t = On::Best)]
    device: On,
    /// Threads, each with its own sequence of points
    #[arg(long, default_value_t = 24 * 64, value_parser = value_parser!(u32).range(1..))]
    threads: u32,
    /// Points per thread
    #[arg(long, default_value_t = 10_000, value_parser = value_parser!(u32).range(1..))]
    iterations: u32,
    /// What the points depend on
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the number of points within the circle and 4 times their share
    #[arg(long)]
    stats: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let device = args.device.device()?;
    let experiment = Experiment { threads: args.threads, points: args.iterations, seed: args.seed };
    let (inside, time) = estimate::run(&device, experiment)?;

    let seconds = time.as_secs_f64();
    println!("{device}: {} threads x {} points, seed {}", args.threads, args.iterations, args.seed);
    println!("kernel {:>10.3} ms {:>14.4e} points/s", seconds * 1e3, experiment.total() as f64 / seconds);
    if args.stats {
        println!("inside={inside} pi={}", experiment.pi(inside));
    } else {
        println!("π is about {:.6}", experiment.pi(inside));
    }
    Ok(())
}
