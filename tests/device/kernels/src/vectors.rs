//! Vectors that are loaded and stored as one.

use gpu_std::{
    prelude::*,
    vector::{Vector, f32x2, f32x3, f32x4, f64x2, f64x3, i32x3, i32x4, u8x4},
};

/// y = a·x + y, four elements per thread.
#[kernel]
pub fn saxpy_by_four(a: f32, x: &[f32x4], y: PerThread<f32x4>) {
    for (i, y) in y {
        *y += x[i] * a;
    }
}

/// Operators of floats: arithmetic, products, lengths, the lane of a number.
#[kernel]
pub fn of_floats(x: &[f32x4], y: &[f32x4], vectors: PerThread<[f32x4; 8]>, numbers: PerThread<[f32; 4]>) {
    for (i, out) in vectors {
        let (x, y) = (x[i], y[i]);
        *out = [x + y, x - y, x * y, x / y, -x, x.min(y), x.max(y), x.mul_add(y, f32x4::splat(1.0))];
    }
    for (i, out) in numbers {
        *out = [x[i].sum(), x[i].dot(y[i]), x[i].length(), x[i][i % 4]];
    }
}

/// Operators of integers.
#[kernel]
pub fn of_integers(x: &[i32x4], y: &[i32x4], out: PerThread<[i32x4; 7]>) {
    for (i, out) in out {
        let (x, y) = (x[i], y[i]);
        *out = [x & y, x | y, x ^ y, !x, x << 3, x >> 2, x.wrapping_mul(y).wrapping_add(x)];
    }
}

/// A pixel's mean, rounded down, and the pixel in reverse.
#[kernel]
pub fn of_bytes(pixels: &[u8x4], mean: PerThread<u8>, turned: PerThread<u8x4>) {
    for (i, mean) in mean {
        let sum: u32 = pixels[i].to_array().into_iter().map(u32::from).sum();
        *mean = (sum / 4) as u8;
    }
    for (i, turned) in turned {
        let [r, g, b, a] = pixels[i].into();
        *turned = u8x4::new(a, b, g, r);
    }
}

/// Pairs of both widths.
#[kernel]
pub fn of_pairs(x: &[f32x2], y: &[f64x2], out: PerThread<f64x2>) {
    for (i, out) in out {
        *out = y[i] * f64x2::new(x[i].x.into(), x[i].y.into()) + 0.5;
    }
}

/// Sums of numbers, loaded four at a time from where they are aligned for that: how many there are in front, in the middle
/// and behind, and their sums.
#[kernel]
pub fn sums_of_parts(x: &[i32], out: PerThread<[i64; 6]>) {
    for (_, out) in out {
        let (front, middle, back) = i32x4::aligned(x);
        let sum = |numbers: &[i32]| numbers.iter().map(|&x| i64::from(x)).sum::<i64>();
        *out = [
            front.len() as i64,
            middle.len() as i64,
            back.len() as i64,
            sum(front),
            sum(i32x4::elements(middle)),
            sum(back),
        ];
    }
}

/// A lane that may be beyond the last.
#[kernel]
pub fn lane(x: &[f32x4], lane: usize, out: PerThread<f32>) {
    for (i, out) in out {
        *out = x[i][lane];
    }
}

/// Vectors of three, of 12 and 24 bytes: a cross product, a length and a lane in f32, a scaled sum in f64, bits in i32.
#[kernel]
pub fn of_threes(
    x: &[f32x3],
    wide: &[f64x3],
    bits: &[i32x3],
    crosses: PerThread<f32x3>,
    numbers: PerThread<[f32; 2]>,
    sums: PerThread<f64x3>,
    shifted: PerThread<i32x3>,
) {
    for (i, cross) in crosses {
        let (a, b) = (x[i], x[(i + 1) % x.len()]);
        let turn = |v: f32x3| f32x3::new(v.y, v.z, v.x);
        *cross = turn(a * turn(b) - turn(a) * b);
    }
    for (i, number) in numbers {
        *number = [x[i].length(), x[i][i % 3]];
    }
    for (i, sum) in sums {
        *sum = wide[i].mul_add(f64x3::splat(2.0), f64x3::splat(1.0));
    }
    for (i, shifted) in shifted {
        *shifted = (bits[i] << 2) | i32x3::splat(1);
    }
}
