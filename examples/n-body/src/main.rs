//! Moves bodies that attract each other, on the devices of several processes, and says how well that scales. One process computes all of it, too: the
//! results are the same bits.

mod simulation;

use anyhow::ensure;
use clap::{Parser, value_parser};
use gpukernel_communicator::{Communicator, World};
use n_body_kernels::Body;

use crate::simulation::Experiment;

/// Simulate bodies that attract each other
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Bodies
    #[arg(long, default_value_t = 4096, value_parser = value_parser!(u32).range(1..))]
    bodies: u32,
    /// Steps in time
    #[arg(long, default_value_t = 10)]
    steps: u32,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    World::run(|world| run(world, &args))
}

fn run(world: &World, args: &Args) -> anyhow::Result<()> {
    let experiment = Experiment { bodies: args.bodies as usize, steps: args.steps as usize };
    let device = world.device()?;
    let communicator = world.communicator(&device)?;
    // First by one process, while the others wait.
    let alone = match world.rank() {
        0 => Some(simulation::run(&Communicator::single(&device)?, &device, experiment)?),
        _ => None,
    };
    communicator.barrier()?;
    let (bodies, time) = simulation::run(&communicator, &device, experiment)?;

    let Some((expected, alone)) = alone else { return Ok(()) };
    let bits = |bodies: &[Body]| {
        bodies.iter().flat_map(|body| body.to_array().map(f32::to_bits)).collect::<Vec<_>>()
    };
    ensure!(bits(&bodies) == bits(&expected), "{} processes computed something else than one", world.size());
    let (size, pairs) =
        (world.size() as f64, (experiment.bodies * experiment.bodies * experiment.steps) as f64);
    println!(
        "{device}: {} bodies, {} steps, {} processes by {:?}",
        args.bodies,
        args.steps,
        size,
        communicator.via()
    );
    for (name, time) in [("one process", alone), ("all", time)] {
        let seconds = time.as_secs_f64();
        println!("{name:<12} {:>10.3} ms {:>12.4e} pairs/s", seconds * 1e3, pairs / seconds);
    }
    let speedup = alone.as_secs_f64() / time.as_secs_f64();
    println!("speed-up {speedup:.2}, efficiency {:.1} %", 100.0 * speedup / size);
    println!("checksum={:016x}", checksum(&bits(&bodies)));
    Ok(())
}

/// FNV-1a, by which results of several runs can be compared.
fn checksum(words: &[u32]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_fnv() {
        assert_eq!(checksum(&[]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(checksum(&[u32::from_le_bytes(*b"foob")]), 0xdd12_0e79_0c25_12af);
    }
}
