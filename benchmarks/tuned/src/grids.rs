//! Stencils, convolutions and lattices: a thread has one element, and extents are required.

use gpu_std::prelude::*;

macro_rules! stencils {
    ($($name:ident: $t:ty;)*) => {$(
        /// The 7-point Laplacian in a volume; its faces are copied.
        #[kernel(
            block = (32, 4, 2),
            no_panics,
            requires = from.layers() == to.layers() && from.rows() == to.rows() && from.columns() == to.columns()
        )]
        pub fn $name(centre: $t, side: $t, from: View3d<$t>, mut to: PerThread3d<$t>) {
            let (layers, rows, columns) = (from.layers(), from.rows(), from.columns());
            let Some(((k, j, i), to)) = to.first_mut() else { return };
            let inside = k > 0 && k + 1 < layers && j > 0 && j + 1 < rows && i > 0 && i + 1 < columns;
            *to = if inside {
                let around = from[(k - 1, j, i)]
                    + from[(k + 1, j, i)]
                    + from[(k, j - 1, i)]
                    + from[(k, j + 1, i)]
                    + from[(k, j, i - 1)]
                    + from[(k, j, i + 1)];
                centre * from[(k, j, i)] + side * around
            } else {
                from[(k, j, i)]
            };
        }
    )*};
}

stencils! {
    stencil_f32: f32;
    stencil_f64: f64;
}

/// A step of Jacobi's method for Laplace's equation; the border stays.
#[kernel(block = (32, 8), no_panics, requires = from.rows() == to.rows() && from.columns() == to.columns())]
pub fn jacobi(from: View2d<f32>, mut to: PerThread2d<f32>) {
    let Some(((row, column), to)) = to.first_mut() else { return };
    if row > 0 && row + 1 < from.rows() && column > 0 && column + 1 < from.columns() {
        *to = 0.25
            * (from[(row - 1, column)]
                + from[(row + 1, column)]
                + from[(row, column - 1)]
                + from[(row, column + 1)]);
    }
}

/// Rows and columns of the filter of [`convolution`].
pub const FILTER: usize = 5;

/// A convolution with a 5 × 5 filter, which comes by value: its numbers are in constant memory, as operands of the arithmetic. What is outside of the
/// image is 0.
#[kernel(block = (32, 8), no_panics)]
pub fn convolution(image: View2d<f32>, filter: [f32; FILTER * FILTER], mut to: PerThread2d<f32>) {
    let Some(((row, column), to)) = to.first_mut() else { return };
    let mut sum = 0.0;
    for i in 0..FILTER {
        for j in 0..FILTER {
            let (row, column) = ((row + i).wrapping_sub(FILTER / 2), (column + j).wrapping_sub(FILTER / 2));
            let pixel = image.get((row, column)).copied().unwrap_or(0.0);
            sum += pixel * filter[i * FILTER + j];
        }
    }
    *to = sum;
}

/// The velocities of D2Q9, and their weights.
const VELOCITIES: [(i32, i32); 9] =
    [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)];
const WEIGHTS: [f32; 9] =
    [4.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0];

/// The position that flows to `at` with a velocity, on a circle of `count` positions.
fn upstream(at: usize, velocity: i32, count: usize) -> usize {
    match velocity {
        1 => at.checked_sub(1).unwrap_or(count.wrapping_sub(1)),
        -1 if at + 1 == count => 0,
        -1 => at + 1,
        _ => at,
    }
}

/// A step of a lattice of Boltzmann: streaming with periodic borders, and collision (BGK).
#[kernel(block = (32, 8), no_panics)]
pub fn lattice_boltzmann(omega: f32, from: [View2d<f32>; 9], mut to: [PerThread2d<f32>; 9]) {
    let (rows, columns) = (from[0].rows(), from[0].columns());
    let Some(((row, column), _)) = to[0].first_mut() else { return };
    let mut f = [0.0; 9];
    for q in 0..9 {
        let (x, y) = VELOCITIES[q];
        let place = (upstream(row, y, rows), upstream(column, x, columns));
        f[q] = from[q].get(place).copied().unwrap_or_default();
    }
    let density: f32 = f.iter().sum();
    let ux = f.iter().zip(VELOCITIES).map(|(f, (x, _))| f * x as f32).sum::<f32>() / density;
    let uy = f.iter().zip(VELOCITIES).map(|(f, (_, y))| f * y as f32).sum::<f32>() / density;
    let square = 1.5 * (ux * ux + uy * uy);
    for (q, to) in to.iter_mut().enumerate() {
        let (x, y) = VELOCITIES[q];
        let Some((_, to)) = to.first_mut() else { return };
        let along = 3.0 * (x as f32 * ux + y as f32 * uy);
        let equilibrium = WEIGHTS[q] * density * (1.0 + along + 0.5 * along * along - square);
        *to = f[q] + omega * (equilibrium - f[q]);
    }
}
