//! Stencils, convolutions and lattices.

use benchmark_kernels::draft::grids as draft;
use benchmark_tuned::grids as tuned;
use gpukernel::{Error, LaunchConfig, RawArg};

use super::{Families, Ours, noise, read};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-grids.fatbin"));

impl Families<'_> {
    pub(super) fn grids(&mut self) -> Result<(), Error> {
        const SIDE: usize = 512;
        const WIDTH: usize = 8192;
        let (modules, theirs) = (self.modules, self.foreign(CUDA)?);
        let grid_3d = LaunchConfig::new((SIDE / 32, SIDE / 4, SIDE / 2), (32, 4, 2));
        let grid = LaunchConfig::new((WIDTH / 32, WIDTH / 8), (32, 8));
        let (side, width) = (RawArg::value(SIDE as u32), RawArg::value(WIDTH as u32));
        {
            let from = self.device.upload(&noise(SIDE * SIDE * SIDE))?;
            let mut outputs = self.zeroed::<f32>(from.len())?;
            self.row(
                "7-point stencil 512³, f32",
                1e-5,
                &mut outputs,
                both!(
                    modules,
                    stencil_f32,
                    |to| grid_3d,
                    (0.5, 0.1, from.view_3d(SIDE, SIDE)?, to.view_3d_mut(SIDE, SIDE)?)
                ),
                &|to| {
                    let args = [
                        RawArg::value(0.5_f32),
                        RawArg::value(0.1_f32),
                        RawArg::slice(&from),
                        RawArg::slice_mut(to),
                        side.clone(),
                        side.clone(),
                        side.clone(),
                    ];
                    // SAFETY: the parameters of the kernel in cuda/draft.
                    unsafe { theirs.launch("stencil_f32", grid_3d, 0, &args) }
                },
                &read,
            )?;
        }
        {
            let values: Vec<f64> = noise(SIDE * SIDE * SIDE).into_iter().map(f64::from).collect();
            let from = self.device.upload(&values)?;
            let mut outputs = self.zeroed::<f64>(from.len())?;
            self.row(
                "7-point stencil 512³, f64",
                1e-12,
                &mut outputs,
                both!(
                    modules,
                    stencil_f64,
                    |to| grid_3d,
                    (0.5, 0.1, from.view_3d(SIDE, SIDE)?, to.view_3d_mut(SIDE, SIDE)?)
                ),
                &|to| {
                    let args = [
                        RawArg::value(0.5_f64),
                        RawArg::value(0.1_f64),
                        RawArg::slice(&from),
                        RawArg::slice_mut(to),
                        side.clone(),
                        side.clone(),
                        side.clone(),
                    ];
                    // SAFETY: the parameters of the kernel in cuda/draft.
                    unsafe { theirs.launch("stencil_f64", grid_3d, 0, &args) }
                },
                &|to| to.to_vec(),
            )?;
        }
        let image = self.device.upload(&noise(WIDTH * WIDTH))?;
        let mut outputs = self.zeroed::<f32>(image.len())?;
        self.row(
            "Jacobi 8192²",
            1e-5,
            &mut outputs,
            both!(modules, jacobi, |to| grid, (image.view_2d(WIDTH)?, to.view_2d_mut(WIDTH)?)),
            &|to| {
                let args = [RawArg::slice(&image), RawArg::slice_mut(to), width.clone(), width.clone()];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("jacobi", grid, 0, &args) }
            },
            &read,
        )?;
        let factors: [f32; 25] = noise(25).try_into().unwrap_or([0.0; 25]);
        let filter = self.device.upload(&factors)?;
        self.row(
            "5 × 5 convolution 8192²",
            1e-4,
            &mut outputs,
            Ours {
                draft: &|to| {
                    modules.drafts.launch(
                        draft::convolution,
                        grid,
                        (image.view_2d(WIDTH)?, &filter, to.view_2d_mut(WIDTH)?),
                    )
                },
                tuned: Some(&|to| {
                    modules.tuned.launch(
                        tuned::convolution,
                        grid,
                        (image.view_2d(WIDTH)?, factors, to.view_2d_mut(WIDTH)?),
                    )
                }),
            },
            &|to| {
                let args = [
                    RawArg::slice(&image),
                    RawArg::slice(&filter),
                    RawArg::slice_mut(to),
                    width.clone(),
                    width.clone(),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("convolution", grid, 0, &args) }
            },
            &read,
        )?;
        const LATTICE: usize = 4096;
        let from: Vec<f32> = noise(9 * LATTICE * LATTICE).into_iter().map(|x| 0.1 + 0.02 * x).collect();
        let from = self.device.upload(&from)?;
        let mut outputs = self.zeroed::<f32>(from.len())?;
        let grid = LaunchConfig::new((LATTICE / 32, LATTICE / 8), (32, 8));
        let size = RawArg::value(LATTICE as u32);
        self.row(
            "lattice Boltzmann D2Q9 4096²",
            1e-4,
            &mut outputs,
            both!(
                modules,
                lattice_boltzmann,
                |to| grid,
                (
                    1.2,
                    from.view_3d(LATTICE, LATTICE)?.into_layers()?,
                    to.view_3d_mut(LATTICE, LATTICE)?.into_layers()?
                )
            ),
            &|to| {
                let args = [
                    RawArg::value(1.2_f32),
                    RawArg::slice(&from),
                    RawArg::slice_mut(to),
                    size.clone(),
                    size.clone(),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("lattice_boltzmann", grid, 0, &args) }
            },
            &read,
        )
    }
}
