//! Estimates π: of random points in the unit square, π/4 lie within the circle around its corner.

mod estimate;

use clap::{Parser, ValueEnum, value_parser};
use gpukernel::Device;

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
