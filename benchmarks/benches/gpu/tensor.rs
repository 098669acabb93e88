//! A product of matrices by tensor cores beside the same in CUDA C++: see `cuda/tensor.cu`.

use benchmark_kernels::tensor::{TILE, gemm_f16};
use gpu_std::half::f16;
use gpukernel::{LaunchConfig, RawArg};
use gpukernel_bench::{Bench, Result, bench};

use super::{KERNELS, families::size};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tensor.fatbin"));

/// Small whole numbers, so that the sums are exact in any order: element `(row, column)` of the two factors.
fn factor_a(row: usize, column: usize) -> f32 {
    ((row * 3 + column * 5) % 7) as f32 - 3.0
}

fn factor_b(row: usize, column: usize) -> f32 {
    ((row * 2 + column * 7) % 5) as f32 - 2.0
}

/// The product: it depends only on what the row leaves divided by 7, and the column by 5.
fn product(size: usize) -> Vec<f32> {
    let element = |row, column| (0..size).map(|k| factor_a(row, k) * factor_b(k, column)).sum();
    let table: [[f32; 5]; 7] = std::array::from_fn(|row| std::array::from_fn(|column| element(row, column)));
    (0..size * size).map(|i| table[i / size % 7][i % size % 5]).collect()
}

/// Without the number of operations: the measured peak is not that of tensor cores.
#[bench(size = |device| [size(device, 4096, 256)])]
fn gemm_f16_by_tensor_cores(bench: &mut Bench<'_>, size: usize) -> Result {
    let device = bench.device();
    if device.arch().is_some_and(|arch| arch.compute_capability() < (8, 0)) {
        bench.skip("tensor cores have these instructions since sm_80");
        return Ok(());
    }
    if size == 0 || !size.is_multiple_of(TILE) {
        return Err(format!("the size has to be a multiple of {TILE}, not {size}").into());
    }
    let matrix = |element: fn(usize, usize) -> f32| -> Vec<f16> {
        (0..size * size).map(|i| f16::from_f32(element(i / size, i % size))).collect()
    };
    let (a, b) = (device.upload(&matrix(factor_a))?, device.upload(&matrix(factor_b))?);
    let module = device.load(&KERNELS)?;
    let (mut theirs, mut ours) = (device.zeroed(size * size)?, device.zeroed(size * size)?);
    let grid = LaunchConfig::new((size / TILE, size / TILE), (32, 4, 2));
    let extent = RawArg::value(u32::try_from(size)?);
    let mut measurement = bench.measure().elements(size * size).expect(product(size));
    if device.is_gpu() {
        // SAFETY: the build script made it with nvcc.
        let cuda = unsafe { device.load_foreign(CUDA) }?;
        let (a, b) = (RawArg::slice(&a), RawArg::slice(&b));
        measurement = measurement.provider("nvcc -O3", &mut theirs, move |c| {
            let extents = [extent.clone(), extent.clone(), extent.clone()];
            let [rows, inner, columns] = extents;
            let args = [a.clone(), b.clone(), RawArg::slice_mut(c), rows, inner, columns];
            // SAFETY: the parameters of `gemm_f16` in cuda/tensor.cu; all matrices have `size` rows and columns, a multiple of its tiles.
            unsafe { cuda.launch("gemm_f16", grid, 0, &args) }
        });
    }
    measurement
        .provider("gpukernel", &mut ours, |c| {
            module.launch(gemm_f16, grid, (a.view_2d(size)?, b.view_2d(size)?, c.view_2d_mut(size)?))
        })
        .run()
}
