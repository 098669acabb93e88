//! Reductions over rows.

use benchmark_kernels::draft::rows as draft;
use benchmark_tuned::rows as tuned;
use gpukernel::{Error, LaunchConfig, RawArg};

use super::{Families, Ours, noise, read};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-rows.fatbin"));

impl Families<'_> {
    pub(super) fn rows(&mut self) -> Result<(), Error> {
        const COLUMNS: usize = 1024;
        const ROWS: usize = 1 << 15;
        let (modules, theirs) = (self.modules, self.foreign(CUDA)?);
        let x = self.device.upload(&noise(ROWS * COLUMNS))?;
        let mut outputs = self.zeroed::<f32>(x.len())?;
        let grid = LaunchConfig::new((1, ROWS), 256);
        let their_grid = LaunchConfig::new(ROWS, 256);
        let columns = RawArg::value(COLUMNS as u32);
        self.row(
            "softmax of 2¹⁵ rows of 1024",
            1e-5,
            &mut outputs,
            Ours {
                draft: &|y| {
                    modules.drafts.launch(draft::softmax, grid, (COLUMNS as u32, &x, y.view_2d_mut(COLUMNS)?))
                },
                tuned: Some(&|y| {
                    modules.tuned.launch(tuned::softmax, grid, (x.view_2d(COLUMNS)?, y.view_2d_mut(COLUMNS)?))
                }),
            },
            &|y| {
                let args = [columns.clone(), RawArg::slice(&x), RawArg::slice_mut(y)];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("softmax", their_grid, 0, &args) }
            },
            &read,
        )?;
        let (scale, offset) = (self.device.upload(&noise(COLUMNS))?, self.device.filled(COLUMNS, 0.5_f32)?);
        self.row(
            "layer norm of 2¹⁵ rows of 1024",
            1e-3,
            &mut outputs,
            Ours {
                draft: &|y| {
                    modules.drafts.launch(
                        draft::layer_norm,
                        grid,
                        (COLUMNS as u32, &x, &scale, &offset, y.view_2d_mut(COLUMNS)?),
                    )
                },
                tuned: Some(&|y| {
                    modules.tuned.launch(
                        tuned::layer_norm,
                        grid,
                        (x.view_2d(COLUMNS)?, &scale, &offset, y.view_2d_mut(COLUMNS)?),
                    )
                }),
            },
            &|y| {
                let args = [
                    columns.clone(),
                    RawArg::slice(&x),
                    RawArg::slice(&scale),
                    RawArg::slice(&offset),
                    RawArg::slice_mut(y),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("layer_norm", their_grid, 0, &args) }
            },
            &read,
        )?;
        const SPARSE_ROWS: usize = 1 << 19;
        const PER_ROW: usize = 64;
        let starts: Vec<u32> = (0..=SPARSE_ROWS).map(|row| (row * PER_ROW) as u32).collect();
        let places: Vec<u32> = noise(SPARSE_ROWS * PER_ROW)
            .into_iter()
            .map(|x| (x * SPARSE_ROWS as f32) as u32 % SPARSE_ROWS as u32)
            .collect();
        let (starts, places) = (self.device.upload(&starts)?, self.device.upload(&places)?);
        let values = self.device.upload(&noise(SPARSE_ROWS * PER_ROW))?;
        let vector = self.device.upload(&noise(SPARSE_ROWS))?;
        let mut outputs = self.zeroed::<f32>(SPARSE_ROWS)?;
        let grid = LaunchConfig::new(SPARSE_ROWS / 8, 256);
        self.row(
            "sparse product, 2¹⁹ rows of 64",
            1e-3,
            &mut outputs,
            both!(modules, sparse_product, |y| grid, (&starts, &places, &values, &vector, y)),
            &|y| {
                let args = [
                    RawArg::slice(&starts),
                    RawArg::value(SPARSE_ROWS as u32),
                    RawArg::slice(&places),
                    RawArg::slice(&values),
                    RawArg::slice(&vector),
                    RawArg::slice_mut(y),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("sparse_product", grid, 0, &args) }
            },
            &read,
        )
    }
}
