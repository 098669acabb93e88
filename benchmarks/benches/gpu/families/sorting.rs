//! Sorting and a transform in shared memory.

use benchmark_kernels::draft::sorting::{self as draft, FFT_THREADS, ITEMS, POINTS};
use benchmark_tuned::sorting as tuned;
use gpukernel::{Error, LaunchConfig, RawArg, for_each};

use super::{Families, Ours, noise};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-sorting.fatbin"));

impl Families<'_> {
    pub(super) fn sorting(&mut self) -> Result<(), Error> {
        const LEN: usize = 1 << 25;
        let (modules, theirs) = (self.modules, self.foreign(CUDA)?);
        let numbers: Vec<u32> = noise(LEN).into_iter().map(f32::to_bits).collect();
        let x = self.device.upload(&numbers)?;
        let mut outputs = self.zeroed::<u32>(LEN)?;
        self.row(
            "bitonic sort of each 512",
            0.0,
            &mut outputs,
            draft_only!(modules, bitonic_sort, |y| for_each(LEN), (&x, y)),
            &|y| {
                let args = [RawArg::slice(&x), RawArg::value(LEN), RawArg::slice_mut(y)];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("bitonic_sort", LaunchConfig::new(LEN / ITEMS, ITEMS), 0, &args) }
            },
            &|y| Ok(y.to_vec()?.into_iter().map(f64::from).collect()),
        )?;
        let points: Vec<[f32; 2]> = noise(2 * LEN).chunks(2).map(|point| [point[0], point[1]]).collect();
        let x = self.device.upload(&points)?;
        let mut outputs = self.zeroed::<[f32; 2]>(LEN)?;
        let grid = LaunchConfig::new(LEN / POINTS, FFT_THREADS);
        self.row(
            "Fourier transform of each 1024",
            1e-3,
            &mut outputs,
            both!(modules, fft_1024, |y| grid, (&x, y)),
            &|y| {
                let args = [RawArg::slice(&x), RawArg::value(LEN), RawArg::slice_mut(y)];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("fft_1024", grid, 0, &args) }
            },
            &|y| Ok(y.to_vec()?.into_iter().flatten().map(f64::from).collect()),
        )
    }
}
