//! The sum of many numbers, by the reduction of an array.

use gpukernel::{Device, Module};
use gpukernel_array::{Array, Array1, ArrayPipeline, Result};
use matrices_kernels::sum;

const COUNT: u32 = 1234;

/// 1, 2, …
fn numbers(device: &Device, count: u32) -> Result<Array1<f64>> {
    Array::range(device, 1.0, f64::from(count) + 1.0, 1.0)
}

pub(crate) fn print(module: &Module) -> Result<()> {
    let x = numbers(module.device(), COUNT)?;
    println!("1 + 2 + … + {COUNT} = {}", sum::call(module, &x)?.to_scalar()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_every_device;

    /// n (n + 1) / 2, which is exact.
    #[test]
    fn sums_are_those_of_gauss() {
        on_every_device(|module| {
            for (count, expected) in [(0, 0.0), (1, 1.0), (1234, 761_995.0), (1_000_000, 500_000_500_000.0)] {
                let x = numbers(module.device(), count)?;
                // An array without axes, which stays on the device.
                assert_eq!(sum::call(module, &x)?.to_scalar()?, expected);
                // What is reduced is not changed.
                assert_eq!(x.to_vec()?.iter().sum::<f64>(), expected);
            }
            Ok(())
        });
    }
}
