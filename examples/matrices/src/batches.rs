//! Functions of small arrays, called for many of them: products of 1000 pairs of matrices, and the extremes of rows.

use gpukernel::Module;
use gpukernel_array::{Array, Array1, Array2, Array3, CoreFunction, Result};
use matrices_kernels::{matmul, max_min};

const PAIRS: usize = 1000;

/// 2 x 4 and 4 x 5 matrices, with numbers from 0 in the order of their elements.
fn pairs(module: &Module) -> Result<[Array3<f32>; 2]> {
    let counted = |rows: usize, columns: usize| {
        let len = PAIRS * rows * columns;
        Array::range(module.device(), 0.0, len as f32, 1.0)?.into_shape((PAIRS, rows, columns))
    };
    Ok([counted(2, 4)?, counted(4, 5)?])
}

/// Rows of numbers from 0 to 1008, each in another order.
fn rows(module: &Module, shape: (usize, usize)) -> Result<Array2<f64>> {
    Array::from_shape_fn(module.device(), shape, |(row, i)| ((row * 101 + i * 7919) % 1009) as f64)
}

fn extremes(module: &Module, rows: &Array2<f64>) -> Result<(Array1<f64>, Array1<f64>)> {
    max_min::apply(module, (rows,))
}

pub(crate) fn print_products(module: &Module) -> Result<()> {
    let [a, b] = pairs(module)?;
    let mut c = Array::zeros(module.device(), (PAIRS, 2, 5))?;
    let time =
        example_support::mean_time(module.device(), 20, || matmul::apply_into(module, (&a, &b), &mut c))?;
    println!("{PAIRS} products of 2 x 4 and 4 x 5 matrices in {:.4} ms\n{c}", time.as_secs_f64() * 1e3);
    Ok(())
}

pub(crate) fn print_extremes(module: &Module) -> Result<()> {
    let rows = rows(module, (6, 100))?;
    let (max, min) = extremes(module, &rows)?;
    println!("{rows}\nlargest:  {max}\nsmallest: {min}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_every_device;

    /// The elements of both matrices have a closed form, and so have those of the product, in integers.
    #[test]
    fn a_thousand_products_are_sums_of_products_of_integers() {
        on_every_device(|module| {
            let [a, b] = pairs(module)?;
            let c: Array3<f32> = matmul::apply(module, (&a, &b))?;
            assert_eq!(c.shape(), [1000, 2, 5]);
            for ((i, row, column), found) in c.to_ndarray()?.indexed_iter() {
                let exact: usize = (0..4).map(|k| (8 * i + 4 * row + k) * (20 * i + 5 * k + column)).sum();
                // All summands are positive, and there are at most eight roundings to 24 bits.
                let error = (f64::from(*found) - exact as f64).abs();
                assert!(error <= 5e-7 * exact as f64, "({i}, {row}, {column}): {found}, {exact}");
            }
            Ok(())
        });
    }

    /// One matrix for all, and the other in another order of its axes.
    #[test]
    fn matrices_are_broadcast() {
        on_every_device(|module| {
            let [a, _] = pairs(module)?;
            let identity = Array::from_shape_fn(module.device(), (2, 2), |(i, j)| f32::from(i == j))?;
            let transposed = a.view().permuted_axes((0, 2, 1))?;
            let product = matmul::apply(module, (&transposed, &identity))?;
            assert_eq!(product.to_ndarray()?, transposed.to_ndarray()?);
            Ok(())
        });
    }

    #[test]
    fn each_row_has_its_largest_and_smallest_number() {
        on_every_device(|module| {
            for (count, len) in [(1, 1), (1000, 1009), (7, 100), (5, 2018)] {
                let rows = rows(module, (count, len))?;
                let (max, min) = extremes(module, &rows)?;
                let (max, min, rows) = (max.to_vec()?, min.to_vec()?, rows.to_ndarray()?);
                for (row, numbers) in rows.outer_iter().enumerate() {
                    let mut sorted = numbers.to_vec();
                    sorted.sort_by(f64::total_cmp);
                    assert_eq!((min[row], max[row]), (sorted[0], sorted[len - 1]), "row {row}");
                    // 1009 is prime, so that as many multiples of 7919 have all remainders.
                    assert!(len < 1009 || (min[row], max[row]) == (0.0, 1008.0));
                }
            }
            Ok(())
        });
    }

    #[test]
    fn what_is_not_a_number_is_not_the_largest() {
        on_every_device(|module| {
            let rows = Array::from_shape_vec(
                module.device(),
                (2, 3),
                [1.0, f64::NAN, -2.0, f64::NEG_INFINITY, f64::INFINITY, f64::NAN],
            )?;
            let (max, min) = extremes(module, &rows)?;
            assert_eq!(
                (max.to_vec()?, min.to_vec()?),
                (vec![1.0, f64::INFINITY], vec![-2.0, f64::NEG_INFINITY])
            );
            Ok(())
        });
    }
}
