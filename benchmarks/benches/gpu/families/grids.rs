//! Stencils, convolutions and lattices.

use benchmark_kernels::draft::grids as draft;
use benchmark_tuned::grids as tuned;
use gpukernel::{LaunchConfig, RawArg};
use gpukernel_bench::{Bench, Result, bench};
use gpukernel_benchmarks::noise;

use super::{Row, size, zeroed};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-grids.fatbin"));

const STENCIL_REASON: &str = "the contract does not say that both volumes have the same extents";

/// A step of the 7-point stencil on a cube.
macro_rules! stencils {
    ($($name:ident: $t:ty, $flops:ident, $tolerance:literal;)*) => {$(
        #[bench(side = |device| [size(device, 512, 32)])]
        fn $name(bench: &mut Bench<'_>, side: usize) -> Result {
            const FACTORS: [$t; 2] = [0.5, 0.1];
            let (count, extent) = (side * side * side, RawArg::value(u32::try_from(side)?));
            let numbers: Vec<$t> = noise(count).into_iter().map(<$t>::from).collect();
            let from = bench.device().upload(&numbers)?;
            let mut outputs = zeroed::<$t>(bench, count)?;
            let grid = LaunchConfig::new((side.div_ceil(32), side.div_ceil(4), side.div_ceil(2)), (32, 4, 2));
            let measurement = bench
                .measure()
                .elements(count)
                .bytes(2 * count * size_of::<$t>()) // each read once and written
                .$flops(8 * count) // two products, six sums
                .tolerance($tolerance);
            let [centre, around] = FACTORS;
            Row::new(measurement, &mut outputs)
                .reason(STENCIL_REASON)
                .nvcc(CUDA, |cuda, to| {
                    let args = [
                        RawArg::value(centre),
                        RawArg::value(around),
                        RawArg::slice(&from),
                        RawArg::slice_mut(to),
                        extent.clone(),
                        extent.clone(),
                        extent.clone(),
                    ];
                    // SAFETY: the parameters of the kernel in cuda/draft, which stays within the extents.
                    unsafe { cuda.launch(stringify!($name), grid, 0, &args) }
                })?
                .draft(|module, to| {
                    let args = (centre, around, from.view_3d(side, side)?, to.view_3d_mut(side, side)?);
                    module.launch(draft::$name, grid, args)
                })?
                .tuned(|module, to| {
                    let args = (centre, around, from.view_3d(side, side)?, to.view_3d_mut(side, side)?);
                    module.launch(tuned::$name, grid, args)
                })?
                .run()
        }
    )*};
}

stencils! {
    stencil_f32: f32, flops, 1e-5;
    stencil_f64: f64, f64_flops, 1e-12;
}

/// A step of Jacobi's method on a square.
#[bench(width = |device| [size(device, 8192, 256)])]
fn jacobi(bench: &mut Bench<'_>, width: usize) -> Result {
    let (count, extent) = (width * width, RawArg::value(u32::try_from(width)?));
    let from = bench.device().upload(&noise(count))?;
    let mut outputs = zeroed::<f32>(bench, count)?;
    let grid = blocks(width);
    let measurement = bench
        .measure()
        .elements(count)
        .bytes(2 * count * size_of::<f32>()) // each read once and written
        .flops(4 * count)
        .tolerance(1e-5);
    Row::new(measurement, &mut outputs)
        .reason("the limit was set for times with the gaps of launching in them, by which this was 1.026")
        .nvcc(CUDA, |cuda, to| {
            let args = [RawArg::slice(&from), RawArg::slice_mut(to), extent.clone(), extent.clone()];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays within the extents.
            unsafe { cuda.launch("jacobi", grid, 0, &args) }
        })?
        .draft(|module, to| {
            module.launch(draft::jacobi, grid, (from.view_2d(width)?, to.view_2d_mut(width)?))
        })?
        .tuned(|module, to| {
            module.launch(tuned::jacobi, grid, (from.view_2d(width)?, to.view_2d_mut(width)?))
        })?
        .run()
}

/// A convolution of a square with 5 × 5 numbers.
#[bench(width = |device| [size(device, 8192, 256)])]
fn convolution(bench: &mut Bench<'_>, width: usize) -> Result {
    const FILTER: usize = draft::FILTER * draft::FILTER;
    let (device, count, extent) = (bench.device(), width * width, RawArg::value(u32::try_from(width)?));
    let image = device.upload(&noise(count))?;
    let factors: [f32; FILTER] = noise(FILTER).try_into().unwrap_or([0.0; FILTER]);
    let filter = device.upload(&factors)?;
    let mut outputs = zeroed::<f32>(bench, count)?;
    let grid = blocks(width);
    let measurement = bench
        .measure()
        .elements(count)
        .bytes(2 * count * size_of::<f32>()) // each read once and written
        .flops(2 * FILTER * count)
        .tolerance(1e-4);
    Row::new(measurement, &mut outputs)
        .reason("the filter comes as memory, as in CUDA C++, and not by value")
        .nvcc(CUDA, |cuda, to| {
            let args = [
                RawArg::slice(&image),
                RawArg::slice(&filter),
                RawArg::slice_mut(to),
                extent.clone(),
                extent.clone(),
            ];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays within the extents.
            unsafe { cuda.launch("convolution", grid, 0, &args) }
        })?
        .draft(|module, to| {
            module.launch(draft::convolution, grid, (image.view_2d(width)?, &filter, to.view_2d_mut(width)?))
        })?
        .tuned(|module, to| {
            module.launch(tuned::convolution, grid, (image.view_2d(width)?, factors, to.view_2d_mut(width)?))
        })?
        .run()
}

/// A step of a D2Q9 lattice of Boltzmann on a square.
#[bench(width = |device| [size(device, 4096, 128)])]
fn lattice_boltzmann(bench: &mut Bench<'_>, width: usize) -> Result {
    const VELOCITIES: usize = 9;
    const OMEGA: f32 = 1.2;
    let (count, extent) = (width * width, RawArg::value(u32::try_from(width)?));
    let numbers: Vec<f32> = noise(VELOCITIES * count).into_iter().map(|x| 0.1 + 0.02 * x).collect();
    let from = bench.device().upload(&numbers)?;
    let mut outputs = zeroed::<f32>(bench, from.len())?;
    let grid = blocks(width);
    let measurement = bench
        .measure()
        .elements(count)
        .bytes(2 * VELOCITIES * count * size_of::<f32>()) // each read once and written
        .tolerance(1e-4);
    Row::new(measurement, &mut outputs)
        .nvcc(CUDA, |cuda, to| {
            let args = [
                RawArg::value(OMEGA),
                RawArg::slice(&from),
                RawArg::slice_mut(to),
                extent.clone(),
                extent.clone(),
            ];
            // SAFETY: the parameters of the kernel in cuda/draft, which stays within the extents.
            unsafe { cuda.launch("lattice_boltzmann", grid, 0, &args) }
        })?
        .draft(|module, to| {
            let from = from.view_3d(width, width)?.into_layers()?;
            let to = to.view_3d_mut(width, width)?.into_layers()?;
            module.launch(draft::lattice_boltzmann, grid, (OMEGA, from, to))
        })?
        .tuned(|module, to| {
            let from = from.view_3d(width, width)?.into_layers()?;
            let to = to.view_3d_mut(width, width)?.into_layers()?;
            module.launch(tuned::lattice_boltzmann, grid, (OMEGA, from, to))
        })?
        .run()
}

/// Blocks of 32 × 8 threads for a square.
fn blocks(width: usize) -> LaunchConfig {
    LaunchConfig::new((width.div_ceil(32), width.div_ceil(8)), (32, 8))
}
