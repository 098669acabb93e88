//! The density of the normal distribution for a million numbers, and its curve for three deviations.

use std::path::Path;

use elementwise_kernels::gaussian_pdf;
use gpu_std::rng::Xoroshiro128Plus;
use gpukernel::{Device, Module};
use gpukernel_array::{Array, Array1, Array2, ArrayFunction, Result};

use crate::inputs::uniform;

/// Uniformly distributed numbers from −3 to 3.
fn inputs(device: &Device, count: usize) -> Result<Array1<f32>> {
    Array::from_vec(device, uniform(&mut Xoroshiro128Plus::new(1), -3.0..3.0, count))
}

/// The densities at so many places from −3 to 3, of one deviation in each row.
fn curves(module: &Module, sigmas: &[f32], places: usize) -> Result<Array2<f32>> {
    let device = module.device();
    let x = Array::linspace(device, -3.0_f32, 3.0, places)?;
    let sigmas = Array::from_shape_vec(device, (sigmas.len(), 1), sigmas)?;
    gaussian_pdf::apply(module, (&x, 0.0, &sigmas))
}

pub(crate) fn print(module: &Module, output: &Path) -> anyhow::Result<()> {
    let x = inputs(module.device(), 1_000_000)?;
    let mut densities = Array::zeros(module.device(), x.len())?;
    let time = example_support::mean_time(module.device(), 10, || {
        gaussian_pdf::apply_into(module, (&x, 0.0, 1.0), &mut densities)
    })?;
    println!("{} densities in {:.3} ms", x.len(), time.as_secs_f64() * 1e3);
    println!("{densities}");

    let (width, height) = (600, 300);
    let curves = curves(module, &[0.5, 1.0, 2.0], width)?.to_vec()?;
    example_support::write_grey(output, width, &drawn(&curves, width, height))
}

/// Black lines on white: each row of values is a line from the left to the right, and the largest of all values is at the top.
fn drawn(values: &[f32], width: usize, height: usize) -> Vec<u8> {
    let mut pixels = vec![255; width * height];
    let largest = values.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let row = |value: f32| ((1.0 - value / largest) * (height - 1) as f32).round() as usize;
    for line in values.chunks(width) {
        for (column, value) in line.iter().enumerate() {
            let next = line.get(column + 1).unwrap_or(value);
            for row in row(value.max(*next))..=row(value.min(*next)) {
                pixels[row * width + column] = 0;
            }
        }
    }
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_every_device;

    /// The same in f64.
    fn expected(x: f64, sigma: f64) -> f64 {
        (-(x / sigma).powi(2) / 2.0).exp() / (sigma * std::f64::consts::TAU.sqrt())
    }

    #[test]
    fn a_million_densities_are_those_in_double_precision() {
        on_every_device(|module| {
            let x = inputs(module.device(), 1_000_000)?;
            let densities = gaussian_pdf::apply(module, (&x, 0.0, 1.0))?.to_vec()?;
            for (x, density) in x.to_vec()?.into_iter().zip(densities) {
                let expected = expected(x.into(), 1.0);
                assert!((f64::from(density) / expected - 1.0).abs() < 3e-6, "{x}: {density}, {expected}");
            }
            Ok(())
        });
    }

    /// 99.73 % of what is normally distributed is within three deviations: erf(3/√2).
    #[test]
    fn the_area_under_a_curve_is_the_rule_of_three_sigmas() {
        on_every_device(|module| {
            let areas = curves(module, &[0.5, 1.0, 2.0], 6001)?.to_vec()?;
            let area = |values: &[f32]| {
                let inner: f64 = values[1..6000].iter().copied().map(f64::from).sum();
                1e-3 * (inner + f64::from(values[0] + values[6000]) / 2.0)
            };
            let areas: Vec<f64> = areas.chunks(6001).map(area).collect();
            // Within 6, 3 and 1.5 deviations.
            for (area, expected) in areas.into_iter().zip([1.0, 0.997_300_203_9, 0.866_385_597_5]) {
                assert!((area - expected).abs() < 1e-5, "{area}, {expected}");
            }
            Ok(())
        });
    }

    #[test]
    fn a_line_has_no_gaps() {
        let pixels = drawn(&[0.0, 1.0, 0.5], 3, 3);
        assert_eq!(pixels, [0, 0, 255, 0, 0, 0, 0, 255, 255]);
    }
}
