//! Products of small matrices.

use benchmark_kernels::draft::lattices::{self as draft, LINKS, Matrix};
use gpu_std::complex::Complex;
use gpukernel::{Error, LaunchConfig, RawArg, for_each};

use super::{Families, Ours, noise};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-lattices.fatbin"));

impl Families<'_> {
    pub(super) fn lattices(&mut self) -> Result<(), Error> {
        const LEN: usize = LINKS << 20;
        let (modules, theirs) = (self.modules, self.foreign(CUDA)?);
        let matrices = |count: usize| -> Vec<Matrix> {
            let numbers = noise(18 * count);
            let matrix = |all: &[f32]| {
                std::array::from_fn(|i| {
                    std::array::from_fn(|j| Complex::new(all[6 * i + 2 * j], all[6 * i + 2 * j + 1]))
                })
            };
            numbers.chunks(18).map(matrix).collect()
        };
        let links = self.device.upload(&matrices(LEN))?;
        let directions = self.device.upload(&matrices(LINKS))?;
        let mut outputs = self.zeroed::<Matrix>(LEN)?;
        self.row(
            "products of SU(3), 2²² links",
            1e-5,
            &mut outputs,
            draft_only!(modules, su3, |products| for_each(LEN), (&links, &directions, products)),
            &|products| {
                let args = [
                    RawArg::slice(&links),
                    RawArg::slice(&directions),
                    RawArg::slice_mut(products),
                    RawArg::value(LEN),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("su3", LaunchConfig::new(LEN / 256, 256), 0, &args) }
            },
            &|products| {
                let parts = products.to_vec()?.into_iter().flatten().flatten().flat_map(|z| [z.re, z.im]);
                Ok(parts.map(f64::from).collect())
            },
        )
    }
}
