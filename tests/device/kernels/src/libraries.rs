//! Libraries from crates.io inside kernels: glam, libm and num-traits, as they are published.

use glam::{Mat3, Quat, Vec2, Vec3, Vec4};
use gpu_std::{Plain, prelude::*};

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

/// A struct with a vector of another crate in it.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
pub struct Body {
    /// Where it is.
    pub position: Plain<Vec3>,
    /// How heavy it is.
    pub mass: f32,
}

/// Takes vectors of glam by value, in memory that is read, in memory that is written, and in shared memory.
#[kernel(block = 32)]
pub fn plain(
    by: Plain<Vec2>,
    colours: &[Plain<Vec4>],
    mut row: Shared<Plain<Vec3>, 32>,
    points: PerThread<Plain<Vec3>>,
    bodies: PerThread<Body>,
) {
    for (i, place) in row.iter_mut() {
        *place = Plain(Vec3::splat(i as f32));
    }
    let row = sync(row);
    let neighbour = row[(thread_rank() as usize + 1) % 32];
    for (i, point) in points {
        **point += by.extend(colours[i].w) + *neighbour;
    }
    for (i, body) in bodies {
        *body.position *= body.mass;
        body.mass = colours[i].dot(Vec4::ONE);
    }
}
