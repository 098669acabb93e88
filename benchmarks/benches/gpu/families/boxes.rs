//! Forces between the particles of neighbouring boxes.

use benchmark_kernels::draft::boxes::{self as draft, PARTICLES, THREADS};
use benchmark_tuned::boxes as tuned;
use gpukernel::{LaunchConfig, RawArg, for_each_tile};
use gpukernel_bench::{Bench, Result, bench};
use gpukernel_benchmarks::molecules::Boxes;

use super::{Row, size, zeroed};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-boxes.fatbin"));

/// Boxes of 100 particles, so many along each axis.
#[bench(side = |device| [size(device, 16, 2)])]
fn lava_md(bench: &mut Bench<'_>, side: usize) -> Result {
    const A2: f32 = 0.5;
    let (device, count) = (bench.device(), side * side * side);
    let boxes = Boxes::new([side; 3]);
    let neighbours = device.upload(&boxes.neighbours)?;
    let (positions, charges) = (device.upload(&boxes.positions)?, device.upload(&boxes.charges)?);
    let flat_positions: &[tuned::Position] = bytemuck::cast_slice(boxes.positions.as_flattened());
    let flat_positions = device.upload(flat_positions)?;
    let flat_charges = device.upload(boxes.charges.as_flattened())?;
    let mut outputs = zeroed::<[f32; 4]>(bench, count * PARTICLES)?;
    let grid = for_each_tile(count * PARTICLES, PARTICLES);
    let pairs: usize =
        boxes.neighbours.iter().map(|around| (1 + around.count as usize) * PARTICLES * PARTICLES).sum();
    // For each pair: 7 for the distance, a power and 2 for the potential, 11 for the sums.
    let measurement = bench.measure().elements(count * PARTICLES).flops(21 * pairs).tolerance(1e-3);
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, forces| {
            let args = [
                RawArg::value(A2),
                RawArg::slice(&neighbours),
                RawArg::slice(&positions),
                RawArg::slice(&charges),
                RawArg::slice_mut(forces),
            ];
            // SAFETY: the parameters of the kernel in cuda/draft, whose forces are four numbers as well; there is a block per box.
            unsafe { cuda.launch("lava_md", LaunchConfig::new(count, THREADS), 0, &args) }
        })?
        .draft(|module, forces| {
            let forces = forces.cast_mut::<draft::Force>()?;
            module.launch(draft::lava_md, grid, (A2, &neighbours, &positions, &charges, forces))
        })?
        .tuned(|module, forces| {
            let neighbours = neighbours.cast::<tuned::Neighbours>()?;
            let forces = forces.cast_mut::<tuned::Force>()?;
            module.launch(tuned::lava_md, grid, (A2, neighbours, &flat_positions, &flat_charges, forces))
        })?
        .run()
}
