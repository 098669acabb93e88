//! Energies of a molecule that docks to a protein.

use benchmark_kernels::draft::docking::{self as draft, Parameters, THREADS, TILE};
use gpukernel::{LaunchConfig, RawArg, for_each_tile};
use gpukernel_bench::{Bench, Result, bench};
use gpukernel_benchmarks::molecules::Docking;

use super::{Row, needs_gpu, zeroed};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-docking.fatbin"));

/// A ligand of 26 atoms, a protein of 128.
#[bench(poses = [1 << 18])]
fn mini_bude(bench: &mut Bench<'_>, poses: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let (device, count, len) = (bench.device(), poses, u32::try_from(poses)?);
    let Docking { protein, ligand, force_field, poses } = Docking::new(128, 26, count);
    let (kinds, atoms) = (force_field.len(), [protein.len() as u32, ligand.len() as u32]);
    let (protein, ligand) = (device.upload(&protein)?, device.upload(&ligand)?);
    let (force_field, poses) = (device.upload(&force_field)?, device.upload(&poses)?);
    let mut outputs = zeroed::<f32>(bench, count)?;
    // How much is computed for a pair of atoms depends on their kinds.
    Row::new(bench.measure().elements(count).tolerance(1e-3), &mut outputs)
        .nvcc(CUDA, |cuda, energies| {
            let args = [
                RawArg::slice(&protein),
                RawArg::value(atoms[0]),
                RawArg::slice(&ligand),
                RawArg::value(atoms[1]),
                RawArg::slice(&force_field),
                RawArg::value(kinds as u32),
                RawArg::slice(&poses),
                RawArg::slice_mut(energies),
                RawArg::value(len),
            ];
            let shared_bytes = (kinds * size_of::<Parameters>()) as u32;
            let grid = LaunchConfig::new(count.div_ceil(TILE), THREADS);
            // SAFETY: the parameters of the kernel in cuda/draft, and shared memory for the force field.
            unsafe { cuda.launch("mini_bude", grid, shared_bytes, &args) }
        })?
        .draft(|module, energies| {
            module.launch(
                draft::mini_bude,
                for_each_tile(count, TILE),
                (&protein, &ligand, &force_field, poses.view_2d(count)?, energies, kinds),
            )
        })?
        .run()
}
