//! What is searched for.

use benchmark_kernels::draft::lookups::{self as draft, FEATURES, Point, SECTIONS};
use gpukernel::{LaunchConfig, RawArg, for_each};
use gpukernel_bench::{Bench, Result, bench};
use gpukernel_benchmarks::noise;

use super::{Row, needs_gpu, zeroed};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-lookups.fatbin"));

/// The nearest of 16 centres, for points with 34 coordinates.
#[bench(points = [1 << 22])]
fn nearest_centre(bench: &mut Bench<'_>, points: usize) -> Result {
    const CENTRES: usize = 16;
    if needs_gpu(bench) {
        return Ok(());
    }
    let (device, count, len) = (bench.device(), points, u32::try_from(points)?);
    let points = device.upload(&noise(FEATURES * count))?;
    let centres: Vec<[f32; FEATURES]> = noise(FEATURES * CENTRES)
        .chunks(FEATURES)
        .map(|centre| centre.try_into().unwrap_or([0.0; FEATURES]))
        .collect();
    let centres = device.upload(&centres)?;
    let mut outputs = zeroed::<u32>(bench, count)?;
    let measurement = bench
        .measure()
        .elements(count)
        .bytes((FEATURES + 1) * count * size_of::<f32>()) // reads coordinates, writes a number
        .flops(3 * FEATURES * CENTRES * count); // squares of differences
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, nearest| {
            let args = [
                RawArg::slice(&points),
                RawArg::value(len),
                RawArg::slice(&centres),
                RawArg::value(CENTRES as u32),
                RawArg::slice_mut(nearest),
            ];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays below the length.
            unsafe { cuda.launch("nearest_centre", LaunchConfig::new(count.div_ceil(256), 256), 0, &args) }
        })?
        .draft(|module, nearest| {
            module.launch(draft::nearest_centre, for_each(count), (points.view_2d(count)?, &centres, nearest))
        })?
        .run()
}

/// XSBench's lookups: where an energy is in the table of each nuclide of a material.
#[bench(lookups = [1 << 20])]
fn cross_sections(bench: &mut Bench<'_>, lookups: usize) -> Result {
    const NUCLIDES: usize = 64;
    const ENERGIES: usize = 2048;
    const MATERIALS: usize = 12;
    if needs_gpu(bench) {
        return Ok(());
    }
    let (device, len) = (bench.device(), u32::try_from(lookups)?);
    let numbers = noise(NUCLIDES * ENERGIES * SECTIONS);
    let point = |(i, sections): (usize, &[f32])| Point {
        energy: (i % ENERGIES) as f64 / (ENERGIES - 1) as f64,
        sections: std::array::from_fn(|k| f64::from(sections[k])),
    };
    let nuclides: Vec<Point> = numbers.chunks(SECTIONS).enumerate().map(point).collect();
    let nuclides = device.upload(&nuclides)?;
    let density = |x: f32| if x < 0.5 { 0.0 } else { f64::from(x) };
    let densities: Vec<f64> = noise(MATERIALS * NUCLIDES).into_iter().map(density).collect();
    let densities = device.upload(&densities)?;
    let energies: Vec<f64> = noise(lookups).into_iter().map(f64::from).collect();
    let energies = device.upload(&energies)?;
    let material = |x: f32| (x * MATERIALS as f32) as u32 % MATERIALS as u32;
    let materials: Vec<u32> = noise(lookups).into_iter().rev().map(material).collect();
    let materials = device.upload(&materials)?;
    let mut outputs = zeroed::<[f64; SECTIONS]>(bench, lookups)?;
    // The tables stay in the cache, and how much of them is read depends on the densities.
    Row::new(bench.measure().elements(lookups).tolerance(1e-9), &mut outputs)
        .nvcc(CUDA, |cuda, sums| {
            let args = [
                RawArg::slice(&nuclides),
                RawArg::value(NUCLIDES as u32),
                RawArg::value(ENERGIES as u32),
                RawArg::slice(&densities),
                RawArg::slice(&energies),
                RawArg::slice(&materials),
                RawArg::slice_mut(sums),
                RawArg::value(len),
            ];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays below the length.
            unsafe { cuda.launch("cross_sections", LaunchConfig::new(lookups.div_ceil(256), 256), 0, &args) }
        })?
        .draft(|module, sums| {
            let (nuclides, densities) = (nuclides.view_2d(ENERGIES)?, densities.view_2d(NUCLIDES)?);
            module.launch(
                draft::cross_sections,
                for_each(lookups),
                (nuclides, densities, &energies, &materials, sums),
            )
        })?
        .run()
}
