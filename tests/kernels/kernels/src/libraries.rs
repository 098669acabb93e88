//! Libraries from crates.io inside kernels: glam, libm and num-traits, as they are published.

use glam::{Mat3, Quat, Vec3};
use gpu_std::prelude::*;

/// Turns points around an axis, by a quaternion and by the matrix of it, and gives the distance of the two results.
#[kernel]
pub fn turn(
    axis: [f32; 3],
    angle: f32,
    points: &[[f32; 3]],
    turned: PerThread<[f32; 3]>,
    apart: PerThread<f32>,
) {
    let rotation = Quat::from_axis_angle(Vec3::from_array(axis).normalize(), angle);
    let matrix = Mat3::from_quat(rotation);
    for (i, turned) in turned {
        *turned = (rotation * Vec3::from_array(points[i])).to_array();
    }
    for (i, apart) in apart {
        let point = Vec3::from_array(points[i]);
        *apart = (rotation * point).distance(matrix * point);
    }
}

/// Functions that neither std nor libdevice has under these names.
#[kernel]
pub fn special(x: &[f64], out: PerThread<[f64; 3]>) {
    for (i, out) in out {
        *out = [libm::erf(x[i]), libm::lgamma(x[i]), libm::j0(x[i])];
    }
}

/// A polynomial for any number type, coefficients from the constant up.
fn polynomial<T: num_traits::Num + Copy>(coefficients: &[T], x: T) -> T {
    coefficients.iter().rev().fold(T::zero(), |sum, &coefficient| sum * x + coefficient)
}

/// One generic function as an f64 and as an i64 instance.
#[kernel]
pub fn polynomials(x: &[i64], exact: PerThread<i64>, rounded: PerThread<f64>) {
    for (i, exact) in exact {
        *exact = polynomial(&[7, -3, 0, 2], x[i]);
    }
    for (i, rounded) in rounded {
        *rounded = polynomial(&[7.0, -3.0, 0.0, 2.0], x[i] as f64);
    }
}

/// num-traits' own float functions, which call libm.
#[kernel]
pub fn norm(x: &[f64], y: &[f64], out: PerThread<f64>) {
    for (i, out) in out {
        *out = num_traits::Float::hypot(x[i], y[i]);
    }
}
