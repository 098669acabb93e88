//! Forces between bodies.

use benchmark_kernels::draft::particles as draft;
use benchmark_tuned::particles as tuned;
use gpukernel::{Error, LaunchConfig, RawArg, for_each};

use super::{Families, Ours, noise};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-particles.fatbin"));

impl Families<'_> {
    pub(super) fn particles(&mut self) -> Result<(), Error> {
        const BODIES: usize = 1 << 15;
        let (modules, theirs) = (self.modules, self.foreign(CUDA)?);
        let bodies: Vec<[f32; 4]> =
            noise(4 * BODIES).chunks(4).map(|body| body.try_into().unwrap_or_default()).collect();
        let bodies = self.device.upload(&bodies)?;
        let mut outputs = self.zeroed::<[f32; 3]>(BODIES)?;
        self.row(
            "n-body, 2¹⁵",
            1e-2,
            &mut outputs,
            both!(modules, n_body, |sums| for_each(BODIES), (&bodies, sums)),
            &|sums| {
                let args = [RawArg::slice(&bodies), RawArg::value(BODIES as u32), RawArg::slice_mut(sums)];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("n_body", LaunchConfig::new(BODIES / 256, 256), 0, &args) }
            },
            &|sums| Ok(sums.to_vec()?.into_iter().flatten().map(f64::from).collect()),
        )
    }
}
