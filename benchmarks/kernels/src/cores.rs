//! Functions of the cores of arrays, and the same as one writes it by hand.

use gpu_std::{
    gufunc::*,
    prelude::{warp::*, *},
};

/// The product of two matrices, by a thread.
#[guvectorize("(m,n),(n,p)->(m,p)")]
pub fn matmul(a: CoreView<f32, 2>, b: CoreView<f32, 2>, mut c: CoreViewMut<f32, 2>) {
    for row in 0..a.rows() {
        for column in 0..b.columns() {
            let mut sum = 0.0;
            for k in 0..a.columns() {
                sum += a[(row, k)] * b[(k, column)];
            }
            c[(row, column)] = sum;
        }
    }
}

/// The same of matrices whose extents are known.
#[guvectorize("(2,4),(4,5)->(2,5)")]
pub fn matmul_2_4_5(a: CoreView<f32, 2>, b: CoreView<f32, 2>, c: CoreViewMut<f32, 2>) {
    matmul(a, b, c);
}

/// Divides a row by its Euclidean norm, by a warp.
#[guvectorize("(n)->(n)", per = warp)]
pub fn normalise(x: CoreView<f32, 1>, out: CorePerLane<f32, 1>) {
    let mut squares = 0.0;
    for i in warp_stride(x.len()) {
        squares += x[i] * x[i];
    }
    let norm = warp().reduce_sum(squares).sqrt();
    for (i, out) in out {
        *out = x[i] / norm;
    }
}

/// By hand.
pub mod by_hand {
    use super::*;

    /// Products of matrices of two rows and four columns with others of four rows and five columns, each by a thread.
    #[kernel]
    pub fn matmul(a: &[[[f32; 4]; 2]], b: &[[[f32; 5]; 4]], c: PerThread<[[f32; 5]; 2]>) {
        for (i, c) in c {
            for row in 0..2 {
                for column in 0..5 {
                    c[row][column] = (0..4).map(|k| a[i][row][k] * b[i][k][column]).sum();
                }
            }
        }
    }

    /// Divides rows by their Euclidean norms, each by a warp: 32 threads along x.
    #[kernel(block = (32, 8), dims = 2)]
    pub fn normalise(x: View2d<f32>, out: PerThread2d<f32>) {
        let row = global_index().y;
        let mut squares = 0.0;
        if row < x.rows() {
            for column in warp_stride(x.columns()) {
                let x = x[(row, column)];
                squares += x * x;
            }
        }
        let norm = warp().reduce_sum(squares).sqrt();
        for (place, out) in out {
            *out = x[place] / norm;
        }
    }
}
