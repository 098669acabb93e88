//! Much arithmetic for each element.

use benchmark_kernels::draft::scalar as draft;
use benchmark_tuned::scalar as tuned;
use gpukernel::{Error, LaunchConfig, RawArg, for_each};

use super::{Families, Ours, noise, read};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-scalar.fatbin"));

impl Families<'_> {
    pub(super) fn scalar(&mut self) -> Result<(), Error> {
        const OPTIONS: usize = 1 << 25;
        let (modules, theirs) = (self.modules, self.foreign(CUDA)?);
        let prices = |from: f32, by: f32| {
            let values: Vec<f32> = noise(OPTIONS).into_iter().map(|x| from + by * x).collect();
            self.device.upload(&values)
        };
        let (stocks, strikes, years) = (prices(5.0, 25.0)?, prices(1.0, 99.0)?, prices(0.25, 9.75)?);
        let pair =
            || Ok::<_, Error>((self.device.zeroed::<f32>(OPTIONS)?, self.device.zeroed::<f32>(OPTIONS)?));
        let mut outputs = [pair()?, pair()?, pair()?, pair()?];
        self.row(
            "Black-Scholes, 2²⁵",
            1e-4,
            &mut outputs,
            both!(
                modules,
                black_scholes,
                |(calls, puts)| for_each(OPTIONS),
                (&stocks, &strikes, &years, calls, puts)
            ),
            &|(calls, puts)| {
                let args = [
                    RawArg::slice(&stocks),
                    RawArg::slice(&strikes),
                    RawArg::slice(&years),
                    RawArg::value(OPTIONS),
                    RawArg::slice_mut(calls),
                    RawArg::slice_mut(puts),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("black_scholes", LaunchConfig::new(OPTIONS / 256, 256), 0, &args) }
            },
            &|(calls, puts)| Ok([read(calls)?, read(puts)?].concat()),
        )?;
        const NONCES: usize = 1 << 24;
        let header: [u32; 19] = std::array::from_fn(|i| (i as u32 + 1).wrapping_mul(0x9e37_79b9));
        let mut outputs = self.zeroed::<u32>(NONCES)?;
        self.row(
            "SHA-256 twice, 2²⁴",
            0.0,
            &mut outputs,
            draft_only!(modules, sha_256_twice, |words| for_each(NONCES), (header, words)),
            &|words| {
                let args = [RawArg::value(header), RawArg::slice_mut(words), RawArg::value(NONCES as u32)];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("sha_256_twice", LaunchConfig::new(NONCES / 256, 256), 0, &args) }
            },
            &|words| Ok(words.to_vec()?.into_iter().map(f64::from).collect()),
        )
    }
}
