//! Products of small matrices of complex numbers, as lattice QCD has one for each link between two sites.

use gpu_std::{complex::Complex, prelude::*};

/// A matrix of SU(3).
pub type Matrix = [[Complex<f32>; 3]; 3];

/// Links of a site.
pub const LINKS: usize = 4;

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut c = Matrix::default();
    for i in 0..3 {
        for j in 0..3 {
            for k in 0..3 {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    c
}

/// Multiplies each link by the matrix of its direction.
#[kernel(block = 256)]
pub fn su3(links: &[Matrix], directions: &[Matrix], products: PerThread<Matrix>) {
    for (i, c) in products {
        *c = product(&links[i], &directions[i % LINKS]);
    }
}
