//! The distances of a million pairs of points in polar coordinates.

use std::f32::consts::PI;

use elementwise_kernels::polar_distance;
use gpu_std::rng::Xoroshiro128Plus;
use gpukernel::Module;
use gpukernel_array::{Array, Array1, ArrayFunction, Result};

use crate::inputs::uniform;

/// Radius and angle of the first points, and of the second.
type Points = [Vec<f32>; 4];

/// Points that are between 0.5 and 1.5 away from the origin.
fn inputs(count: usize) -> Points {
    let mut rng = Xoroshiro128Plus::new(1);
    [0.5..1.5, -PI..PI, 0.5..1.5, -PI..PI].map(|range| uniform(&mut rng, range, count))
}

fn uploaded(module: &Module, points: &Points) -> Result<[Array1<f32>; 4]> {
    let [rho1, theta1, rho2, theta2] = points;
    let upload = |values: &Vec<f32>| Array::from_vec(module.device(), values);
    Ok([upload(rho1)?, upload(theta1)?, upload(rho2)?, upload(theta2)?])
}

pub(crate) fn print(module: &Module) -> anyhow::Result<()> {
    let [rho1, theta1, rho2, theta2] = uploaded(module, &inputs(1_000_000))?;
    let mut distances = Array::zeros(module.device(), rho1.len())?;
    let time = example_support::mean_time(module.device(), 10, || {
        polar_distance::apply_into(module, (&rho1, &theta1, &rho2, &theta2), &mut distances)
    })?;
    println!("{} distances in {:.3} ms", rho1.len(), time.as_secs_f64() * 1e3);
    println!("{distances}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_every_device;

    /// By the law of cosines, in f64: no coordinates are computed.
    #[test]
    fn a_million_distances_are_those_of_the_law_of_cosines() {
        on_every_device(|module| {
            let points = inputs(1_000_000);
            let [rho1, theta1, rho2, theta2] = uploaded(module, &points)?;
            let distances = polar_distance::apply(module, (&rho1, &theta1, &rho2, &theta2))?.to_vec()?;
            for (i, distance) in distances.into_iter().enumerate() {
                let [a, alpha, b, beta] = [0, 1, 2, 3].map(|of| f64::from(points[of][i]));
                let expected = (a * a + b * b - 2.0 * a * b * (alpha - beta).cos()).sqrt();
                let error = (f64::from(distance) - expected).abs();
                assert!(error < 2e-6, "({a}, {alpha}), ({b}, {beta}): {distance}, {expected}");
            }
            Ok(())
        });
    }

    #[test]
    fn numbers_and_arrays_mix() {
        on_every_device(|module| {
            let rho = Array::from_vec(module.device(), [1.0, 2.0, 3.0])?;
            assert_eq!(polar_distance::apply(module, (&rho, 0.0, 1.0, 0.0))?.to_vec()?, [0.0, 1.0, 2.0]);
            Ok(())
        });
    }
}
