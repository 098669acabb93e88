//! What memory limits.

use benchmark_kernels::draft::streams as draft;
use benchmark_tuned::streams as tuned;
use gpukernel::{Buffer, Error, LaunchConfig, RawArg, for_each};

use super::{Families, Ours, noise, read};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-streams.fatbin"));

impl Families<'_> {
    pub(super) fn streams(&mut self) -> Result<(), Error> {
        const LEN: usize = 1 << 26;
        let (modules, theirs) = (self.modules, self.foreign(CUDA)?);
        let (a, b) = (self.device.filled(LEN, 0.1_f64)?, self.device.filled(LEN, 0.2_f64)?);
        let mut outputs = self.zeroed::<f64>(LEN)?;
        let grid = LaunchConfig::new(LEN / 256, 256);
        let len = RawArg::value(LEN);
        let of_f64 = |to: &Buffer<f64>| to.to_vec();
        self.row(
            "BabelStream copy, 2²⁶",
            0.0,
            &mut outputs,
            both!(modules, copy, |c| for_each(LEN), (&a, c)),
            // SAFETY: the parameters of the kernel in cuda/draft.
            &|c| unsafe {
                theirs.launch("copy", grid, 0, &[RawArg::slice(&a), RawArg::slice_mut(c), len.clone()])
            },
            &of_f64,
        )?;
        self.row(
            "BabelStream multiply",
            0.0,
            &mut outputs,
            both!(modules, multiply, |b| for_each(LEN), (b, &a)),
            // SAFETY: as above.
            &|b| unsafe {
                theirs.launch("multiply", grid, 0, &[RawArg::slice_mut(b), RawArg::slice(&a), len.clone()])
            },
            &of_f64,
        )?;
        self.row(
            "BabelStream add",
            0.0,
            &mut outputs,
            both!(modules, add, |c| for_each(LEN), (&a, &b, c)),
            &|c| {
                let args = [RawArg::slice(&a), RawArg::slice(&b), RawArg::slice_mut(c), len.clone()];
                // SAFETY: as above.
                unsafe { theirs.launch("add", grid, 0, &args) }
            },
            &of_f64,
        )?;
        self.row(
            "BabelStream triad",
            1e-15,
            &mut outputs,
            both!(modules, triad, |c| for_each(LEN), (c, &a, &b)),
            &|c| {
                let args = [RawArg::slice_mut(c), RawArg::slice(&a), RawArg::slice(&b), len.clone()];
                // SAFETY: as above.
                unsafe { theirs.launch("triad", grid, 0, &args) }
            },
            &of_f64,
        )?;
        let mut sums = self.zeroed::<f64>(264)?;
        let few = LaunchConfig::new(264, 1024);
        self.row(
            "BabelStream dot",
            1e-9,
            &mut sums,
            both!(modules, dot, |sums| few, (&a, &b, sums)),
            &|sums| {
                let args = [RawArg::slice(&a), RawArg::slice(&b), len.clone(), RawArg::slice_mut(sums)];
                // SAFETY: as above.
                unsafe { theirs.launch("dot", few, 0, &args) }
            },
            &of_f64,
        )?;
        let values: Vec<u8> = noise(LEN).into_iter().map(|x| (x * 256.0) as u8).collect();
        let values = self.device.upload(&values)?;
        let mut bins = self.zeroed::<u32>(256)?;
        let few = LaunchConfig::new(132 * 8, 256);
        // Both add to what is there, equally often.
        self.row(
            "histogram of 2²⁶ bytes",
            0.0,
            &mut bins,
            both!(modules, histogram, |bins| few, (&values, bins)),
            &|bins| {
                let args = [RawArg::slice(&values), len.clone(), RawArg::slice_mut(bins)];
                // SAFETY: as above.
                unsafe { theirs.launch("histogram", few, 0, &args) }
            },
            &|bins| Ok(bins.to_vec()?.into_iter().map(f64::from).collect()),
        )?;
        const SUMS: usize = 1 << 20;
        let places: Vec<u32> =
            noise(LEN / 4).into_iter().map(|x| (x * SUMS as f32) as u32 % SUMS as u32).collect();
        let (places, added) = (self.device.upload(&places)?, self.device.filled(LEN / 4, 1.0_f32)?);
        let mut sums = self.zeroed::<f32>(SUMS)?;
        self.row(
            "scatter-add of 2²⁴ to 2²⁰",
            0.0,
            &mut sums,
            both!(modules, scatter_add, |sums| few, (&places, &added, sums)),
            &|sums| {
                let args = [
                    RawArg::slice(&places),
                    RawArg::slice(&added),
                    RawArg::value(LEN / 4),
                    RawArg::slice_mut(sums),
                ];
                // SAFETY: as above.
                unsafe { theirs.launch("scatter_add", few, 0, &args) }
            },
            &read,
        )
    }
}
