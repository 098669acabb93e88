//! The transpose of a matrix of integers, element by element and by tiles in shared memory.

use gpukernel::{Buffer, Module, Result, for_each_tile_2d};
use matrices_kernels::{TILE, transpose, transpose_tiled};

/// Which kernel.
#[derive(Clone, Copy, Debug)]
enum By {
    Elements,
    /// In shared memory without padding: the elements of a column are in one bank.
    Tiles,
    PaddedTiles,
}

/// A matrix of so many columns, transposed to so many.
fn launch(
    module: &Module,
    by: By,
    (from, columns): (&Buffer<i32>, usize),
    (to, to_columns): (&mut Buffer<i32>, usize),
) -> Result<()> {
    let config = for_each_tile_2d((columns, to_columns), (TILE, TILE));
    let args = (from.view_2d(columns)?, to.view_2d_mut(to_columns)?);
    match by {
        By::Elements => module.launch(transpose, config, args),
        By::Tiles => module.launch(transpose_tiled::<0>, config, args),
        By::PaddedTiles => module.launch(transpose_tiled::<1>, config, args),
    }
}

pub(crate) fn print(module: &Module, size: usize) -> Result<()> {
    let device = module.device();
    let from = device.upload(&(0..).take(size * size).collect::<Vec<i32>>())?;
    let mut to = device.zeroed(size * size)?;
    let mut time =
        |by| example_support::mean_time(device, 20, || launch(module, by, (&from, size), (&mut to, size)));
    println!("{size} x {size} integers, by blocks of 32 x 8 threads");
    crate::print_times(&[
        ("element by element", time(By::Elements)?),
        ("tiles in shared memory", time(By::Tiles)?),
        ("tiles with padding", time(By::PaddedTiles)?),
    ]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::tests::on_every_device;

    #[test]
    fn rows_become_columns_whatever_the_extents() {
        on_every_device(|module| {
            let device = module.device();
            for (rows, columns) in [(1024, 1024), (32, 32), (1, 1), (33, 31), (1, 100), (100, 1), (70, 200)] {
                let matrix =
                    Array2::from_shape_fn((rows, columns), |(row, column)| (row * 5000 + column) as i32);
                let expected: Vec<i32> = matrix.t().iter().copied().collect();
                let from = device.upload(&matrix.into_raw_vec_and_offset().0)?;
                for by in [By::Elements, By::Tiles, By::PaddedTiles] {
                    let mut to = device.filled(rows * columns, -1)?;
                    launch(module, by, (&from, columns), (&mut to, rows))?;
                    assert!(to.to_vec()? == expected, "{rows} x {columns}, {by:?}");
                }
            }
            Ok(())
        });
    }

    #[test]
    fn extents_that_do_not_fit_are_refused_before_the_launch() {
        on_every_device(|module| {
            let (from, mut to) = (module.device().zeroed(12)?, module.device().zeroed(12)?);
            for by in [By::Elements, By::PaddedTiles] {
                let error = launch(module, by, (&from, 4), (&mut to, 4)).unwrap_err();
                assert!(error.to_string().contains("from.rows() = 3"), "{error}");
            }
            Ok(())
        });
    }
}
