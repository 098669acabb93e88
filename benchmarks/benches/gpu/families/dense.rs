//! Products of matrices, and a transpose.

use benchmark_kernels::draft::dense::{self as draft, BLOCK, SIDE, STEP, TILE};
use gpukernel::{Buffer, Error, LaunchConfig, RawArg};

use super::{Families, Ours, noise, read};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-dense.fatbin"));

impl Families<'_> {
    pub(super) fn dense(&mut self) -> Result<(), Error> {
        const SIZE: usize = 2048;
        let (modules, theirs) = (self.modules, self.foreign(CUDA)?);
        let (a, b) = (self.device.upload(&noise(SIZE * SIZE))?, self.device.upload(&noise(SIZE * SIZE))?);
        let mut outputs = self.zeroed::<f32>(SIZE * SIZE)?;
        let grid = LaunchConfig::new((SIZE / TILE, SIZE / TILE), (TILE, TILE));
        fn args<'a>(a: &'a Buffer<f32>, b: &'a Buffer<f32>, c: &'a mut Buffer<f32>) -> [RawArg<'a>; 6] {
            let size = RawArg::value(SIZE as u32);
            [RawArg::slice(a), RawArg::slice(b), RawArg::slice_mut(c), size.clone(), size.clone(), size]
        }
        self.row(
            "product 2048³ in tiles of 32",
            1e-4,
            &mut outputs,
            draft_only!(
                modules,
                product,
                |c| grid,
                (a.view_2d(SIZE)?, b.view_2d(SIZE)?, c.view_2d_mut(SIZE)?)
            ),
            // SAFETY: the parameters of the kernel in cuda/draft.
            &|c| unsafe { theirs.launch("product", grid, 0, &args(&a, &b, c)) },
            &read,
        )?;
        self.row(
            "min-plus product 2048³",
            1e-5,
            &mut outputs,
            draft_only!(
                modules,
                min_plus,
                |c| grid,
                (a.view_2d(SIZE)?, b.view_2d(SIZE)?, c.view_2d_mut(SIZE)?)
            ),
            // SAFETY: as above.
            &|c| unsafe { theirs.launch("min_plus", grid, 0, &args(&a, &b, c)) },
            &read,
        )?;
        let large = LaunchConfig::new((SIZE / BLOCK, SIZE / BLOCK), (SIDE, SIDE));
        self.row(
            "product 2048³ in tiles of 128 × 8",
            1e-4,
            &mut outputs,
            draft_only!(
                modules,
                sgemm,
                |c| large,
                (a.view_2d(SIZE)?, b.view_2d(SIZE)?, c.view_2d_mut(SIZE)?)
            ),
            // SAFETY: as above.
            &|c| unsafe { theirs.launch("sgemm", large, 0, &args(&a, &b, c)) },
            &read,
        )?;
        const WIDTH: usize = 8192;
        let from = self.device.upload(&noise(WIDTH * WIDTH))?;
        let mut outputs = self.zeroed::<f32>(from.len())?;
        let grid = LaunchConfig::new((WIDTH / TILE, WIDTH / TILE), (TILE, STEP));
        self.row(
            "transpose 8192²",
            0.0,
            &mut outputs,
            draft_only!(modules, transpose, |to| grid, (from.view_2d(WIDTH)?, to.view_2d_mut(WIDTH)?)),
            &|to| {
                let args = [
                    RawArg::slice(&from),
                    RawArg::slice_mut(to),
                    RawArg::value(WIDTH as u32),
                    RawArg::value(WIDTH as u32),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("transpose", grid, 0, &args) }
            },
            &read,
        )
    }
}
