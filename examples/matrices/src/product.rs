//! The product of two matrices, from global memory and by tiles in shared memory.

use gpukernel::{Buffer, Module, Result, for_each_2d, for_each_tile_2d};
use matrices_kernels::{SIDE, product, product_tiled};

/// Rows of the first matrix, its columns, which are rows of the second, and columns of the second.
#[derive(Clone, Copy, Debug)]
struct Extents {
    rows: usize,
    inner: usize,
    columns: usize,
}

fn launch(
    module: &Module,
    is_tiled: bool,
    extents: Extents,
    a: &Buffer<f32>,
    b: &Buffer<f32>,
    c: &mut Buffer<f32>,
) -> Result<()> {
    let Extents { rows, inner, columns } = extents;
    let args = (a.view_2d(inner)?, b.view_2d(columns)?, c.view_2d_mut(columns)?);
    match is_tiled {
        false => module.launch(product, for_each_2d(rows, columns), args),
        true => module.launch(product_tiled, for_each_tile_2d((rows, columns), (SIDE, SIDE)), args),
    }
}

/// Integers from −4 to 4, whose products and sums of them are exact.
fn inputs(rows: usize, columns: usize) -> Vec<f32> {
    (0..rows * columns).map(|i| (i * 31 % 9) as f32 - 4.0).collect()
}

pub(crate) fn print(module: &Module, size: usize) -> Result<()> {
    let device = module.device();
    let extents = Extents { rows: size, inner: size, columns: size };
    let (a, b) = (device.upload(&inputs(size, size))?, device.upload(&inputs(size, size))?);
    let mut c = device.zeroed(size * size)?;
    let mut time = |is_tiled| {
        example_support::mean_time(device, 5, || launch(module, is_tiled, extents, &a, &b, &mut c))
    };
    println!("{size} x {size} numbers, by blocks of 16 x 16 threads");
    crate::print_times(&[("from global memory", time(false)?), ("tiles in shared memory", time(true)?)]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::tests::on_every_device;

    #[test]
    fn products_are_those_of_ndarray() {
        on_every_device(|module| {
            let device = module.device();
            for (rows, inner, columns) in
                [(128, 128, 128), (1, 1, 1), (16, 16, 16), (17, 15, 33), (5, 100, 3), (40, 1, 20)]
            {
                let (a, b) = (inputs(rows, inner), inputs(inner, columns));
                let matrix = |rows, columns, values: &[f32]| {
                    Array2::from_shape_vec((rows, columns), values.to_vec()).unwrap()
                };
                let expected =
                    matrix(rows, inner, &a).dot(&matrix(inner, columns, &b)).into_raw_vec_and_offset().0;
                let (a, b) = (device.upload(&a)?, device.upload(&b)?);
                for is_tiled in [false, true] {
                    let mut c = device.filled(rows * columns, f32::NAN)?;
                    launch(module, is_tiled, Extents { rows, inner, columns }, &a, &b, &mut c)?;
                    assert!(c.to_vec()? == expected, "{rows} x {inner} x {columns}, tiled: {is_tiled}");
                }
            }
            Ok(())
        });
    }

    /// The rows of a matrix of numbers in order, times a column of ones, have sums of a closed form.
    #[test]
    fn a_column_of_ones_gives_the_sums_of_rows() {
        on_every_device(|module| {
            let device = module.device();
            let a: Vec<f32> = (0..50 * 40).map(|i| i as f32).collect();
            let (a, ones, mut c) = (device.upload(&a)?, device.filled(40, 1.0)?, device.zeroed(50)?);
            let extents = Extents { rows: 50, inner: 40, columns: 1 };
            launch(module, true, extents, &a, &ones, &mut c)?;
            assert!(c.to_vec()?.into_iter().eq((0..50).map(|row| (row * 1600 + 780) as f32)));
            Ok(())
        });
    }

    #[test]
    fn matrices_that_do_not_fit_are_refused_before_the_launch() {
        on_every_device(|module| {
            let device = module.device();
            let (a, b, mut c) = (device.zeroed(12)?, device.zeroed(12)?, device.zeroed(16)?);
            for is_tiled in [false, true] {
                let extents = Extents { rows: 4, inner: 4, columns: 4 };
                let error = launch(module, is_tiled, extents, &a, &b, &mut c).unwrap_err();
                assert!(error.to_string().contains("a.columns() = 4, b.rows() = 3"), "{error}");
            }
            Ok(())
        });
    }
}
