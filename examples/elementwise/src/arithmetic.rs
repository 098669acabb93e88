//! Sums, squared sums and relative differences, with broadcasting.

use elementwise_kernels::{add, rel_diff, squared_sum};
use gpukernel::Module;
use gpukernel_array::{Array, Array1, Array2, ArrayFunction, Result};

/// The sum of two vectors, and that of a row and a matrix.
fn sums(module: &Module) -> Result<(Array1<i64>, Array2<i64>)> {
    let device = module.device();
    let (a, b) = (Array::from_vec(device, [1, 2, 3, 4])?, Array::from_vec(device, [10, 20, 30, 40])?);
    let matrix = Array::from_shape_fn(device, (4, 4), |(row, column)| (4 * row + column) as i64)?;
    Ok((add::apply(module, (&a, &b))?, add::apply(module, (&b, &matrix))?))
}

/// Of 0, 1, … and 1.2.
fn squared_sums(module: &Module, count: usize) -> Result<Array1<f32>> {
    let a = Array::range(module.device(), 0.0, count as f32, 1.0)?;
    squared_sum::apply(module, (&a, 1.2))
}

/// Of 0, 1, … and 1, 3, …
fn differences(module: &Module, count: usize) -> Result<Array1<f32>> {
    let a = Array::range(module.device(), 0.0_f32, count as f32, 1.0)?;
    let b = Array::range(module.device(), 1.0, 2.0 * count as f32, 2.0)?;
    rel_diff::apply(module, (&a, &b))
}

pub(crate) fn print_sums(module: &Module) -> anyhow::Result<()> {
    let (vector, matrix) = sums(module)?;
    println!("{vector}\n{matrix}");
    Ok(())
}

pub(crate) fn print_squared_sums(module: &Module) -> anyhow::Result<()> {
    println!("(a + 1.2)² for a = 0, 1, …\n{}", squared_sums(module, 10)?);
    Ok(())
}

pub(crate) fn print_differences(module: &Module) -> anyhow::Result<()> {
    println!("relative differences of a and 2a + 1 for a = 0, 1, …\n{}", differences(module, 1000)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::tests::on_every_device;

    #[test]
    fn a_row_is_added_to_each_row_of_a_matrix() {
        on_every_device(|module| {
            let (vector, matrix) = sums(module)?;
            assert_eq!(vector.to_vec()?, [11, 22, 33, 44]);
            let expected = array![[10, 21, 32, 43], [14, 25, 36, 47], [18, 29, 40, 51], [22, 33, 44, 55]];
            assert_eq!(matrix.to_ndarray()?, expected);
            Ok(())
        });
    }

    /// An odd number of elements: a thread has two at a time, so that the last chunk is partial.
    #[test]
    fn sums_of_many_numbers_are_those_of_the_host() {
        const LEN: i64 = 100_003;
        on_every_device(|module| {
            let (a, b): (Vec<i64>, Vec<i64>) = (0..LEN).map(|i| (i * i, (LEN - i) << 32)).unzip();
            let (x, y) = (Array::from_vec(module.device(), &a)?, Array::from_vec(module.device(), &b)?);
            let sums = add::apply(module, (&x, &y))?.to_vec()?;
            assert!(sums.into_iter().eq(a.iter().zip(&b).map(|(a, b)| a + b)));
            Ok(())
        });
    }

    /// Each is rounded twice and never contracted, so that devices have the same bits. Their sum has a closed form.
    #[test]
    fn squared_sums_are_those_of_a_loop() {
        on_every_device(|module| {
            for count in [1, 10, 1000] {
                let squares = squared_sums(module, count)?.to_vec()?;
                assert!(squares.iter().zip(0..).all(|(square, a)| *square == (a as f32 + 1.2).powi(2)));
                let n = count as f64;
                let expected = (n - 1.0) * n * (2.0 * n - 1.0) / 6.0 + 1.2 * n * (n - 1.0) + 1.44 * n;
                let sum: f64 = squares.into_iter().map(f64::from).sum();
                assert!((sum / expected - 1.0).abs() < 1e-6, "{sum}, {expected}");
            }
            Ok(())
        });
    }

    /// −2 (a + 1) / (3a + 1), whose quotient in f64 rounds to that in f32.
    #[test]
    fn relative_differences_are_quotients_of_integers() {
        on_every_device(|module| {
            let expected = (0..1000).map(|a| (-2.0 * f64::from(a + 1) / f64::from(3 * a + 1)) as f32);
            assert!(differences(module, 1000)?.to_vec()?.into_iter().eq(expected));
            Ok(())
        });
    }

    #[test]
    fn each_type_has_a_function() {
        on_every_device(|module| {
            let x = Array::from_vec(module.device(), [1.0_f64, 2.0])?;
            assert_eq!(rel_diff::apply(module, (&x, 3.0))?.to_vec()?, [-1.0, -0.4]);
            Ok(())
        });
    }
}
