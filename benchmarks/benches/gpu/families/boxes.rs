//! Forces between the particles of neighbouring boxes.

use benchmark_kernels::draft::boxes::{self as draft, Force, PARTICLES, THREADS};
use benchmark_tuned::boxes as tuned;
use gpukernel::{Error, LaunchConfig, RawArg, for_each_tile};
use gpukernel_benchmarks::molecules::Boxes;

use super::{Families, Ours};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-boxes.fatbin"));

impl Families<'_> {
    pub(super) fn boxes(&mut self) -> Result<(), Error> {
        /// Boxes along each axis.
        const SIDE: usize = 16;
        const BOXES: usize = SIDE * SIDE * SIDE;
        const A2: f32 = 0.5;
        let (modules, theirs) = (self.modules, self.foreign(CUDA)?);
        let boxes = Boxes::new([SIDE; 3]);
        let neighbours = self.device.upload(&boxes.neighbours)?;
        let (positions, charges) =
            (self.device.upload(&boxes.positions)?, self.device.upload(&boxes.charges)?);
        let flat_positions: &[tuned::Position] = bytemuck::cast_slice(boxes.positions.as_flattened());
        let flat_positions = self.device.upload(flat_positions)?;
        let flat_charges = self.device.upload(boxes.charges.as_flattened())?;
        let mut outputs = self.zeroed::<Force>(BOXES * PARTICLES)?;
        let grid = for_each_tile(BOXES * PARTICLES, PARTICLES);
        self.row(
            "lavaMD, 16³ boxes of 100 particles",
            1e-3,
            &mut outputs,
            Ours {
                draft: &|forces| {
                    modules.drafts.launch(
                        draft::lava_md,
                        grid,
                        (A2, &neighbours, &positions, &charges, forces),
                    )
                },
                tuned: Some(&|forces| {
                    let neighbours = neighbours.cast::<tuned::Neighbours>()?;
                    let forces = forces.cast_mut::<tuned::Force>()?;
                    modules.tuned.launch(
                        tuned::lava_md,
                        grid,
                        (A2, neighbours, &flat_positions, &flat_charges, forces),
                    )
                }),
            },
            &|forces| {
                let args = [
                    RawArg::value(A2),
                    RawArg::slice(&neighbours),
                    RawArg::slice(&positions),
                    RawArg::slice(&charges),
                    RawArg::slice_mut(forces),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft; there is a block per box.
                unsafe { theirs.launch("lava_md", LaunchConfig::new(BOXES, THREADS), 0, &args) }
            },
            &|forces| {
                let parts = forces.to_vec()?.into_iter().flat_map(|Force { v, x, y, z }| [v, x, y, z]);
                Ok(parts.map(f64::from).collect())
            },
        )
    }
}
