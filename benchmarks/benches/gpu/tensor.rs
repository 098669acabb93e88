//! A product of matrices by tensor cores beside the same in CUDA C++: see `cuda/tensor.cu`.

use benchmark_kernels::tensor::{TILE, gemm_f16};
use gpu_std::half::f16;
use gpukernel::{Device, Error, LaunchConfig, Module, RawArg};
use gpukernel_benchmarks::{TimedRun, compare, print_row};

static CUDA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tensor.fatbin"));

/// Rows and columns of the matrices.
const SIZE: usize = 4096;

/// Small whole numbers, so that the sums are exact in any order: element `(row, column)` of the two factors.
fn factor_a(row: usize, column: usize) -> f32 {
    ((row * 3 + column * 5) % 7) as f32 - 3.0
}

fn factor_b(row: usize, column: usize) -> f32 {
    ((row * 2 + column * 7) % 5) as f32 - 2.0
}

fn matrix(element: fn(usize, usize) -> f32) -> Vec<f16> {
    (0..SIZE * SIZE).map(|i| f16::from_f32(element(i / SIZE, i % SIZE))).collect()
}

/// Prints a row for the product, if the GPU has the instructions.
pub(crate) fn compare_products(device: &Device, ours: &Module) -> Result<(), Error> {
    if device.arch().is_none_or(|arch| arch.compute_capability() < (8, 0)) {
        return Ok(());
    }
    // SAFETY: the build script made it with nvcc.
    let theirs = unsafe { device.load_foreign(CUDA) }?;
    let (a, b) = (device.upload(&matrix(factor_a))?, device.upload(&matrix(factor_b))?);
    let mut our_c = device.filled(SIZE * SIZE, f32::NAN)?;
    let mut their_c = device.filled(SIZE * SIZE, f32::NAN)?;
    let grid = LaunchConfig::new((SIZE / TILE, SIZE / TILE), (32, 4, 2));
    let our_way: TimedRun<'_> = Box::new(|| {
        super::time(device, || {
            ours.launch(gemm_f16, grid, (a.view_2d(SIZE)?, b.view_2d(SIZE)?, our_c.view_2d_mut(SIZE)?))
        })
    });
    let their_way: TimedRun<'_> = Box::new(|| {
        super::time(device, || {
            let args = [
                RawArg::slice(&a),
                RawArg::slice(&b),
                RawArg::slice_mut(&mut their_c),
                RawArg::value(SIZE as u32),
                RawArg::value(SIZE as u32),
                RawArg::value(SIZE as u32),
            ];
            // SAFETY: the parameters of `gemm_f16` in cuda/tensor.cu; all matrices have `SIZE` rows and columns, a multiple of its tiles.
            unsafe { theirs.launch("gemm_f16", grid, 0, &args) }
        })
    });
    print_row("product of 4096² matrices, f16 by tensor cores", "", Some(&compare(our_way, their_way)?));
    let (our_c, their_c) = (our_c.to_vec()?, their_c.to_vec()?);
    assert!(our_c == their_c, "our product differs from that of CUDA C++");
    for row in [0, 77, SIZE - 1] {
        for column in (0..SIZE).step_by(61) {
            let expected: f32 = (0..SIZE).map(|k| factor_a(row, k) * factor_b(k, column)).sum();
            assert_eq!(our_c[row * SIZE + column], expected, "the element at ({row}, {column})");
        }
    }
    Ok(())
}
