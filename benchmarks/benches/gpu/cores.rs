//! Functions of the cores of arrays beside the same kernels by hand.

use benchmark_kernels::cores::{by_hand, matmul, matmul_2_4_5, normalise};
use gpukernel::{LaunchConfig, for_each};
use gpukernel_array::{Array2, Array3, CoreFunction};
use gpukernel_bench::{Bench, Output, Result, bench};
use gpukernel_benchmarks::noise;
use ndarray::Dimension;

use super::KERNELS;

const BY_HAND: &str = "by_hand";
const GUVECTORIZE: &str = "guvectorize";

struct Written<D: Dimension>(gpukernel_array::Array<f32, D>);

impl<D: Dimension> Output for Written<D> {
    type Values = Vec<f32>;

    fn values(&self) -> Result<Vec<f32>> {
        Ok(self.0.to_vec()?)
    }
}

/// Products of matrices 2 × 4 and 4 × 5, a thread each: by a kernel and a core function that know the extents, and by one that is told.
#[bench(products = [1000, 1_000_000])]
fn batched_matmul(bench: &mut Bench<'_>, products: usize) -> Result {
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let (a, b) = (noise(8 * products), noise(20 * products));
    let product = |i: usize| {
        let (a, b) = (&a[8 * i..], &b[20 * i..]);
        let element = |row: usize, column: usize| (0..4).map(|k| a[4 * row + k] * b[5 * k + column]).sum();
        (0..10).map(|place| element(place / 5, place % 5)).collect::<Vec<f32>>()
    };
    let expected: Vec<f32> = (0..products).flat_map(product).collect();
    let a = Array3::from_shape_vec(&device, (products, 2, 4), &a)?;
    let b = Array3::from_shape_vec(&device, (products, 4, 5), &b)?;
    let zeros = || Array3::zeros(&device, (products, 2, 5));
    let (mut by_thread, mut known, mut told) =
        (device.zeroed(10 * products)?, Written(zeros()?), Written(zeros()?));
    bench
        .measure()
        .elements(products)
        .bytes((8 + 20 + 10) * products * size_of::<f32>())
        .expect(expected)
        .tolerance(1e-5)
        .provider(BY_HAND, &mut by_thread, |c| {
            let args = (a.as_slice().cast()?, b.as_slice().cast()?, c.cast_mut()?);
            module.launch(by_hand::matmul, for_each(products), args)
        })
        .provider("guvectorize_2_4_5", &mut known, |c| matmul_2_4_5::apply_into(&module, (&a, &b), &mut c.0))
        .provider(GUVECTORIZE, &mut told, |c| matmul::apply_into(&module, (&a, &b), &mut c.0))
        .run()
}

/// Rows divided by their Euclidean norms, a warp each.
#[bench(rows = [32, 65_536], columns = [3, 1024])]
fn normalised_rows(bench: &mut Bench<'_>, rows: usize, columns: usize) -> Result {
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let x: Vec<f32> = noise(rows * columns).iter().map(|x| x + 0.5).collect();
    let expected = x
        .chunks(columns)
        .flat_map(|row| {
            let norm = row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            row.iter().map(move |&x| (f64::from(x) / norm) as f32)
        })
        .collect::<Vec<f32>>();
    let x = Array2::from_shape_vec(&device, (rows, columns), &x)?;
    let (mut by_warp, mut array) =
        (device.zeroed(rows * columns)?, Written(Array2::zeros(&device, (rows, columns))?));
    bench
        .measure()
        .elements(rows * columns)
        .bytes(2 * rows * columns * size_of::<f32>())
        .expect(expected)
        .tolerance(1e-5)
        .provider(BY_HAND, &mut by_warp, |out| {
            let config = LaunchConfig::new((1, rows.div_ceil(8)), (32, 8));
            module.launch(
                by_hand::normalise,
                config,
                (x.as_slice().view_2d(columns)?, out.view_2d_mut(columns)?),
            )
        })
        .provider(GUVECTORIZE, &mut array, |out| normalise::apply_into(&module, (&x,), &mut out.0))
        .run()
}
