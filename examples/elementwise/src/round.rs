//! Numbers rounded to decimals by a kernel, launched with a thread for each.

use elementwise_kernels::round;
use gpu_std::rng::{Generator, Xoroshiro128Plus};
use gpukernel::{Module, Result, for_each};

/// Numbers from 0 to 1.
fn inputs(count: usize) -> Vec<f64> {
    let mut rng = Xoroshiro128Plus::new(1);
    (0..count).map(|_| rng.uniform()).collect()
}

fn rounded(module: &Module, x: &[f64], decimals: i32) -> Result<Vec<f64>> {
    let device = module.device();
    let x = device.upload(x)?;
    let mut out = device.zeroed(x.len())?;
    module.launch(round, for_each(x.len()), (&x, decimals, &mut out))?;
    out.to_vec()
}

pub(crate) fn print(module: &Module, decimals: i32) -> anyhow::Result<()> {
    let x = inputs(10);
    println!("{x:?}\n{:?}", rounded(module, &x, decimals)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_every_device;

    fn bits(numbers: &[f64]) -> Vec<u64> {
        numbers.iter().map(|number| number.to_bits()).collect()
    }

    #[test]
    fn halves_are_rounded_to_even_numbers() {
        on_every_device(|module| {
            let halves = [0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5, 0.25, -0.75];
            let expected = [0.0, 2.0, 2.0, 4.0, -0.0, -2.0, -2.0, 0.0, -1.0];
            assert_eq!(bits(&rounded(module, &halves, 0)?), bits(&expected));
            // 0.0005 · 1000 is 0.5 once it is rounded.
            let thousandths = [0.0005, 0.0015, 0.0025, 1.0005, 0.12345, -1.23456];
            let expected = [0.0, 0.002, 0.002, 1.0, 0.123, -1.235];
            assert_eq!(bits(&rounded(module, &thousandths, 3)?), bits(&expected));
            Ok(())
        });
    }

    /// What formatting prints is rounded exactly. It differs only for numbers whose product with 1000 is rounded to a half, which are not among these.
    #[test]
    fn random_numbers_are_those_that_formatting_prints() {
        on_every_device(|module| {
            let x = inputs(10_000);
            let expected: Vec<f64> = x.iter().map(|x| format!("{x:.3}").parse().unwrap()).collect();
            assert_eq!(bits(&rounded(module, &x, 3)?), bits(&expected));
            Ok(())
        });
    }

    #[test]
    fn what_is_no_number_stays() {
        on_every_device(|module| {
            let [infinite, nan] = rounded(module, &[f64::INFINITY, f64::NAN], 3)?[..] else { panic!() };
            assert!(infinite == f64::INFINITY && nan.is_nan());
            assert_eq!(rounded(module, &[], 3)?, [0.0; 0]);
            Ok(())
        });
    }
}
