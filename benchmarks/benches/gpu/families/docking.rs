//! Energies of a molecule that docks to a protein.

use benchmark_kernels::draft::docking::{self as draft, Parameters, THREADS, TILE};
use gpukernel::{Error, LaunchConfig, RawArg, for_each_tile};
use gpukernel_benchmarks::molecules::Docking;

use super::{Families, Ours, read};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-docking.fatbin"));

impl Families<'_> {
    pub(super) fn docking(&mut self) -> Result<(), Error> {
        const PROTEIN: usize = 128;
        const LIGAND: usize = 26;
        const POSES: usize = 1 << 18;
        let (modules, theirs) = (self.modules, self.foreign(CUDA)?);
        let Docking { protein, ligand, force_field, poses } = Docking::new(PROTEIN, LIGAND, POSES);
        let kinds = force_field.len();
        let (protein, ligand) = (self.device.upload(&protein)?, self.device.upload(&ligand)?);
        let (force_field, poses) = (self.device.upload(&force_field)?, self.device.upload(&poses)?);
        let mut outputs = self.zeroed::<f32>(POSES)?;
        self.row(
            "miniBUDE, 2¹⁸ poses of 26 atoms, 128 atoms",
            1e-3,
            &mut outputs,
            draft_only!(
                modules,
                mini_bude,
                |energies| for_each_tile(POSES, TILE),
                (&protein, &ligand, &force_field, poses.view_2d(POSES)?, energies, kinds)
            ),
            &|energies| {
                let args = [
                    RawArg::slice(&protein),
                    RawArg::value(PROTEIN as u32),
                    RawArg::slice(&ligand),
                    RawArg::value(LIGAND as u32),
                    RawArg::slice(&force_field),
                    RawArg::value(kinds as u32),
                    RawArg::slice(&poses),
                    RawArg::slice_mut(energies),
                    RawArg::value(POSES as u32),
                ];
                let shared_bytes = (kinds * size_of::<Parameters>()) as u32;
                let grid = LaunchConfig::new(POSES / TILE, THREADS);
                // SAFETY: the parameters of the kernel in cuda/draft, and shared memory for the force field.
                unsafe { theirs.launch("mini_bude", grid, shared_bytes, &args) }
            },
            &read,
        )
    }
}
