//! Solves the Laplace equation on a grid by the Jacobi method, on the devices of several processes. Each has some rows, and exchanges edges with its neighbours
//! while it computes what is between. One process solves all of it, too: the results are the same bits.

mod solver;

use anyhow::ensure;
use clap::{Parser, value_parser};
use gpukernel_communicator::{Communicator, World};

use crate::solver::Problem;

/// Solve the Laplace equation by the Jacobi method
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Rows of the grid, at least one for each process
    #[arg(long, default_value_t = 1024, value_parser = value_parser!(u32).range(1..))]
    rows: u32,
    /// Columns of the grid
    #[arg(long, default_value_t = 1024, value_parser = value_parser!(u32).range(1..))]
    columns: u32,
    /// Sweeps over the grid
    #[arg(long, default_value_t = 100)]
    sweeps: u32,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    World::run(|world| run(world, &args))
}

fn run(world: &World, args: &Args) -> anyhow::Result<()> {
    let problem = Problem {
        rows: args.rows as usize,
        columns: args.columns as usize,
        sweeps: args.sweeps as usize,
        overlaps: true,
    };
    ensure!(problem.rows >= world.size(), "{} processes need a row each", world.size());
    let device = world.device()?;
    let communicator = world.communicator(&device)?;
    // First by one process, while the others wait.
    let alone = match world.rank() {
        0 => Some(solver::run(&Communicator::single(&device)?, &device, problem)?),
        _ => None,
    };
    communicator.barrier()?;
    let in_turn = solver::run(&communicator, &device, Problem { overlaps: false, ..problem })?;
    let overlapped = solver::run(&communicator, &device, problem)?;

    let Some(alone) = alone else { return Ok(()) };
    for solution in [&in_turn, &overlapped] {
        ensure!(
            bits(&solution.cells) == bits(&alone.cells) && solution.change == alone.change,
            "{} processes computed something else than one",
            world.size()
        );
    }
    let (size, via) = (world.size(), communicator.via());
    println!(
        "{device}: {} x {} cells, {} sweeps, {size} processes by {via:?}",
        args.rows, args.columns, args.sweeps
    );
    let cells = problem.rows as f64 * problem.columns as f64 * problem.sweeps as f64;
    for (name, solution) in
        [("one process", &alone), ("all, exchange first", &in_turn), ("all, exchange beside", &overlapped)]
    {
        let seconds = solution.time.as_secs_f64();
        println!("{name:<21} {:>10.3} ms {:>12.4e} cells/s", seconds * 1e3, cells / seconds);
    }
    println!("change={:e} checksum={:016x}", alone.change, checksum(&bits(&alone.cells)));
    Ok(())
}

fn bits(cells: &[f32]) -> Vec<u32> {
    cells.iter().map(|cell| cell.to_bits()).collect()
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
