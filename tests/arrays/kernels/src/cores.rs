//! Core functions as functions of arrays.

use gpu_std::{
    gufunc::*,
    prelude::{collective::*, warp::*, *},
};

/// The product of two matrices.
#[guvectorize("(m,n),(n,p)->(m,p)", f32, f64, i32)]
pub fn matmul<T>(a: CoreView<T, 2>, b: CoreView<T, 2>, mut c: CoreViewMut<T, 2>)
where
    T: Copy + Default + core::ops::AddAssign + core::ops::Mul<Output = T>,
{
    for row in 0..a.rows() {
        for column in 0..b.columns() {
            let mut sum = T::default();
            for k in 0..a.columns() {
                sum += a[(row, k)] * b[(k, column)];
            }
            c[(row, column)] = sum;
        }
    }
}

/// The product of a matrix and a vector.
#[guvectorize("(m,n),(n)->(m)")]
pub fn matvec(a: CoreView<i64, 2>, x: CoreView<i64, 1>, mut y: CoreViewMut<i64, 1>) {
    for (row, y) in y.iter_mut().enumerate() {
        *y = a.row(row).iter().zip(x.iter()).map(|(a, x)| a * x).sum();
    }
}

/// Adds a number to a vector (Numba's first example).
#[guvectorize("(n),()->(n)", <i32, i32>, <f32, u8>)]
pub fn add_to<T: Copy + core::ops::Add<Output = T>, S: Copy + Into<T>>(
    x: CoreView<T, 1>,
    y: S,
    mut sum: CoreViewMut<T, 1>,
) {
    for i in 0..x.len() {
        sum[i] = x[i] + y.into();
    }
}

/// The smallest and the largest element.
#[guvectorize("(n)->(),()", i32, f32)]
pub fn min_max<T: Copy + PartialOrd>(x: CoreView<T, 1>) -> (T, T) {
    let first = x[0];
    x.iter().fold((first, first), |(least, most), &x| {
        (if x < least { x } else { least }, if x > most { x } else { most })
    })
}

/// The sum of all elements.
#[guvectorize("(n)->()", i32, f64)]
pub fn total<T: Copy + core::iter::Sum>(x: CoreView<T, 1>) -> T {
    x.iter().copied().sum()
}

/// The vector product.
#[guvectorize("(3),(3)->(3)", f32, i32)]
pub fn cross<T: Copy + core::ops::Mul<Output = T> + core::ops::Sub<Output = T>>(
    a: CoreView<T, 1>,
    b: CoreView<T, 1>,
    mut c: CoreViewMut<T, 1>,
) {
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        c[i] = a[j] * b[k] - a[k] * b[j];
    }
}

/// Sorts a vector, and counts how many elements are unequal to their successors.
#[guvectorize("(n)->(),(n)")]
pub fn sorted(x: CoreView<i32, 1>, mut sorted: CoreViewMut<i32, 1>) -> u32 {
    for i in 0..x.len() {
        let mut j = i;
        while j > 0 && sorted[j - 1] > x[i] {
            sorted[j] = sorted[j - 1];
            j -= 1;
        }
        sorted[j] = x[i];
    }
    let sorted = sorted.view();
    (1..sorted.len()).filter(|&i| sorted[i] != sorted[i - 1]).count() as u32
}

/// The sum of the diagonal of each matrix of a cube, along its layers.
#[guvectorize("(l,n,n)->(l)")]
pub fn traces(cube: CoreView<i32, 3>, mut traces: CoreViewMut<i32, 1>) {
    for layer in 0..traces.len() {
        traces[layer] = (0..cube.shape()[1]).map(|i| cube[(layer, i, i)]).sum();
    }
}

/// Divides a row by its Euclidean norm.
#[guvectorize("(n)->(n)", f32, f64)]
pub fn normalise<T: Float>(x: CoreView<T, 1>, mut out: CoreViewMut<T, 1>) {
    let mut squares = T::from_f64(0.0);
    for i in 0..x.len() {
        squares += x[i] * x[i];
    }
    let norm = squares.sqrt();
    for i in 0..x.len() {
        out[i] = x[i] / norm;
    }
}

/// The same, a warp per row.
#[guvectorize("(n)->(n)", f32, per = warp)]
pub fn normalise_by_warps<T: Float + gpu_std::warp::LaneNumber>(x: CoreView<T, 1>, out: CorePerLane<T, 1>) {
    let mut squares = T::from_f64(0.0);
    for i in warp_stride(x.len()) {
        squares += x[i] * x[i];
    }
    let norm = warp().reduce_sum(squares).sqrt();
    for (i, out) in out {
        *out = x[i] / norm;
    }
}

/// The same, a block per row, which keeps the row in shared memory.
#[guvectorize("(n)->(n)", per = block, block = 128)]
pub fn normalise_by_blocks(
    x: CoreView<f32, 1>,
    out: CorePerThread<f32, 1>,
    mut scratch: BlockScratch<f32>,
    mut row: Shared<f32, 1024>,
) {
    assert!(x.len() <= 1024, "a row has at most 1024 elements");
    let mut squares = 0.0;
    for (i, element) in &mut row {
        *element = x.get(i).copied().unwrap_or(0.0);
        squares += *element * *element;
    }
    let norm = scratch.reduce(squares, Sum).sqrt();
    let row = sync(row);
    for (i, out) in out {
        *out = row[i] / norm;
    }
}

/// The product of two matrices, a warp per product.
#[guvectorize("(m,n),(n,p)->(m,p),()", per = warp, block = 64)]
pub fn matmul_by_warps(a: CoreView<i32, 2>, b: CoreView<i32, 2>, c: CorePerLane<i32, 2>) -> i32 {
    let mut sum = 0;
    for ((row, column), c) in c {
        *c = (0..a.columns()).map(|k| a[(row, k)] * b[(k, column)]).sum();
        sum += *c;
    }
    warp().reduce_sum(sum)
}

/// The product of two matrices and the sum of its elements, a block per product.
#[guvectorize("(m,n),(n,p)->(m,p),()", i32, per = block)]
pub fn matmul_by_blocks<T>(
    a: CoreView<T, 2>,
    b: CoreView<T, 2>,
    mut c: CorePerThread<T, 2>,
    mut scratch: BlockScratch<T>,
) -> T
where
    T: gpu_std::warp::WarpElement
        + Default
        + core::ops::AddAssign
        + core::ops::Mul<Output = T>
        + core::iter::Sum,
    Sum: Operator<T>,
{
    let mut sum = T::default();
    for ((row, column), c) in &mut c {
        *c = (0..a.columns()).map(|k| a[(row, k)] * b[(k, column)]).sum();
        sum += *c;
    }
    scratch.reduce(sum, Sum)
}

/// As many arguments and outputs as there can be.
#[guvectorize("(n),(n),(n),(n),(n),(n),(m),()->(n),(),(m),(2)")]
#[allow(clippy::too_many_arguments)]
pub fn many(
    a: CoreView<i32, 1>,
    b: CoreView<i64, 1>,
    c: CoreView<u8, 1>,
    d: CoreView<i16, 1>,
    e: CoreView<f32, 1>,
    f: CoreView<f64, 1>,
    g: CoreView<u32, 1>,
    h: bool,
    mut sums: CoreViewMut<f64, 1>,
    mut doubled: CoreViewMut<u32, 1>,
    mut flags: CoreViewMut<bool, 1>,
) -> i64 {
    for i in 0..a.len() {
        sums[i] = f64::from(a[i]) + b[i] as f64 + f64::from(c[i]) + f64::from(d[i]) + f64::from(e[i]) + f[i];
    }
    for i in 0..g.len() {
        doubled[i] = 2 * g[i];
    }
    (flags[0], flags[1]) = (h, !h);
    b.iter().sum()
}

/// Panics if an element is negative, before anything is written.
#[guvectorize("(n)->(n),()")]
pub fn square_roots(x: CoreView<f32, 1>, mut roots: CoreViewMut<f32, 1>) -> bool {
    for i in 0..x.len() {
        assert!(x[i] >= 0.0, "element {i} is negative");
    }
    for i in 0..x.len() {
        roots[i] = x[i].sqrt();
    }
    true
}

/// Writes the first element only.
#[guvectorize("(n)->(n)")]
pub fn first_only(x: CoreView<i32, 1>, mut out: CoreViewMut<i32, 1>) {
    out[0] = x[0];
}

/// Reads beyond a core.
#[guvectorize("(n),()->()")]
pub fn at(x: CoreView<i32, 1>, i: u32) -> i32 {
    x[i as usize]
}

/// Core functions call others.
#[guvectorize("(n),(n)->()")]
pub fn distance(a: CoreView<f64, 1>, b: CoreView<f64, 1>) -> f64 {
    let square = |x: f64| x * x;
    a.iter().zip(b.iter()).map(|(a, b)| square(a - b)).sum::<f64>().sqrt()
}

/// Kernels with the parameters of those that core functions become.
pub mod by_hand {
    use gpu_std::{gufunc::*, prelude::*};

    /// Copies rows.
    #[kernel]
    pub fn copy_rows(x: InputCores<i32, 1>, out: PerThreadCores<i32, 1>) {
        let [columns] = x.core_shape();
        for_each_core((x,), (out.with_core_shape([columns]),), |(x,), (mut out,)| {
            for i in 0..x.len() {
                out[i] = x[i];
            }
        });
    }

    /// The same, of rows that lie together.
    #[kernel]
    pub fn copy_contiguous_rows(x: InputCores<i32, 1>, out: PerThreadCores<i32, 1>) {
        for_each_core((x.contiguous(),), (out.contiguous(),), |(x,), (mut out,)| {
            for i in 0..x.len() {
                out[i] = x[i];
            }
        });
    }

    /// The same, by warps.
    #[kernel]
    pub fn copy_rows_by_warps(x: InputCores<i32, 1>, out: PerWarpCores<i32, 1>) {
        for_each_core((x,), (out,), |(x,), (out,)| {
            for (i, out) in out {
                *out = x[i];
            }
        });
    }

    /// The same, by blocks.
    #[kernel]
    pub fn copy_rows_by_blocks(x: InputCores<i32, 1>, out: PerBlockCores<i32, 1>) {
        with_core_of_block((x,), (out,), |(x,), (out,)| {
            for (i, out) in out {
                *out = x[i];
            }
        });
    }
}
