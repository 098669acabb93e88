//! Rows divided by their means: by a kernel with a thread for each row, and by operations of arrays.

use gpukernel::{Module, for_each};
use gpukernel_array::{Array, Array2, ArrayFunction, Result, add};
use matrices_kernels::normalise;
use ndarray::Axis;

const ROWS: usize = 32;
const COLUMNS: usize = 3;

/// Numbers from 0, row by row.
fn inputs(module: &Module) -> Result<Array2<f32>> {
    Array::from_shape_fn(module.device(), (ROWS, COLUMNS), |(row, column)| (COLUMNS * row + column) as f32)
}

fn by_kernel(module: &Module) -> Result<Array2<f32>> {
    let mut rows = inputs(module)?.into_buffer();
    module.launch(normalise, for_each(ROWS), (rows.cast_mut()?,))?;
    Array::from_buffer((ROWS, COLUMNS), rows)
}

fn by_arrays(module: &Module) -> Result<Array2<f32>> {
    let x = inputs(module)?;
    let means = add::reduce(&gpukernel_array::module(module.device())?, &x, Axis(1))? / COLUMNS as f32;
    Ok(&x / &means.into_shape((ROWS, 1))?)
}

pub(crate) fn print(module: &Module) -> Result<()> {
    println!("{}\n{}", by_kernel(module)?, by_arrays(module)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_every_device;

    /// The mean of a row is its middle element, and all numbers but the quotient are integers.
    #[test]
    fn rows_are_divided_by_their_middle() {
        on_every_device(|module| {
            let expected = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column)));
            let expected: Vec<f32> =
                expected.map(|(row, column)| (3 * row + column) as f32 / (3 * row + 1) as f32).collect();
            assert_eq!(by_kernel(module)?.to_vec()?, expected);
            assert_eq!(by_arrays(module)?.to_vec()?, expected);
            Ok(())
        });
    }
}
