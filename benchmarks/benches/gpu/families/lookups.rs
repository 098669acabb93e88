//! What is searched for.

use benchmark_kernels::draft::lookups::{self as draft, FEATURES, Point, SECTIONS};
use gpukernel::{Error, LaunchConfig, RawArg, for_each};

use super::{Families, Ours, noise};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-lookups.fatbin"));

impl Families<'_> {
    pub(super) fn lookups(&mut self) -> Result<(), Error> {
        const POINTS: usize = 1 << 22;
        const CENTRES: usize = 16;
        let (modules, theirs) = (self.modules, self.foreign(CUDA)?);
        {
            let points = self.device.upload(&noise(FEATURES * POINTS))?;
            let centres: Vec<[f32; FEATURES]> = noise(FEATURES * CENTRES)
                .chunks(FEATURES)
                .map(|centre| centre.try_into().unwrap_or([0.0; FEATURES]))
                .collect();
            let centres = self.device.upload(&centres)?;
            let mut outputs = self.zeroed::<u32>(POINTS)?;
            self.row(
                "nearest of 16 centres, 2²² points of 34",
                0.0,
                &mut outputs,
                draft_only!(
                    modules,
                    nearest_centre,
                    |nearest| for_each(POINTS),
                    (points.view_2d(POINTS)?, &centres, nearest)
                ),
                &|nearest| {
                    let args = [
                        RawArg::slice(&points),
                        RawArg::value(POINTS as u32),
                        RawArg::slice(&centres),
                        RawArg::value(CENTRES as u32),
                        RawArg::slice_mut(nearest),
                    ];
                    let grid = LaunchConfig::new(POINTS / 256, 256);
                    // SAFETY: the parameters of the kernel in cuda/draft.
                    unsafe { theirs.launch("nearest_centre", grid, 0, &args) }
                },
                &|nearest| Ok(nearest.to_vec()?.into_iter().map(f64::from).collect()),
            )?;
        }
        const NUCLIDES: usize = 64;
        const ENERGIES: usize = 2048;
        const MATERIALS: usize = 12;
        const LOOKUPS: usize = 1 << 20;
        let numbers = noise(NUCLIDES * ENERGIES * SECTIONS);
        let point = |(i, sections): (usize, &[f32])| Point {
            energy: (i % ENERGIES) as f64 / (ENERGIES - 1) as f64,
            sections: std::array::from_fn(|k| f64::from(sections[k])),
        };
        let nuclides: Vec<Point> = numbers.chunks(SECTIONS).enumerate().map(point).collect();
        let nuclides = self.device.upload(&nuclides)?;
        let density = |x: f32| if x < 0.5 { 0.0 } else { f64::from(x) };
        let densities: Vec<f64> = noise(MATERIALS * NUCLIDES).into_iter().map(density).collect();
        let densities = self.device.upload(&densities)?;
        let energies: Vec<f64> = noise(LOOKUPS).into_iter().map(f64::from).collect();
        let energies = self.device.upload(&energies)?;
        let material = |x: f32| (x * MATERIALS as f32) as u32 % MATERIALS as u32;
        let materials: Vec<u32> = noise(LOOKUPS).into_iter().rev().map(material).collect();
        let materials = self.device.upload(&materials)?;
        let mut outputs = self.zeroed::<[f64; SECTIONS]>(LOOKUPS)?;
        self.row(
            "cross sections, 2²⁰ lookups of 64 nuclides",
            1e-9,
            &mut outputs,
            draft_only!(
                modules,
                cross_sections,
                |sums| for_each(LOOKUPS),
                (nuclides.view_2d(ENERGIES)?, densities.view_2d(NUCLIDES)?, &energies, &materials, sums)
            ),
            &|sums| {
                let args = [
                    RawArg::slice(&nuclides),
                    RawArg::value(NUCLIDES as u32),
                    RawArg::value(ENERGIES as u32),
                    RawArg::slice(&densities),
                    RawArg::slice(&energies),
                    RawArg::slice(&materials),
                    RawArg::slice_mut(sums),
                    RawArg::value(LOOKUPS as u32),
                ];
                let grid = LaunchConfig::new(LOOKUPS / 256, 256);
                // SAFETY: as above.
                unsafe { theirs.launch("cross_sections", grid, 0, &args) }
            },
            &|sums| Ok(sums.to_vec()?.into_iter().flatten().collect()),
        )
    }
}
