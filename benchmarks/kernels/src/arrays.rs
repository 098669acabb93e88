//! Functions of arrays, and the same as one writes it by hand: four elements per thread, loaded and stored by one instruction.

use core::{
    array,
    ops::{Add, Mul},
};

use gpu_std::{
    complex::Complex,
    prelude::*,
    vector::{f32x2, f32x4},
};

/// (a + b)².
#[vectorize(f32, f64, f16, Complex<f32>)]
#[inline]
pub fn squared_sum<T: Copy + Add<Output = T> + Mul<Output = T>>(a: T, b: T) -> T {
    (a + b) * (a + b)
}

/// Adds.
#[vectorize]
#[inline]
pub fn sum(a: f32, b: f32) -> f32 {
    a + b
}

/// The density of the normal distribution.
#[vectorize]
#[inline]
pub fn gaussian_pdf(x: f32, #[scalar] mean: f32, #[scalar] sigma: f32) -> f32 {
    let z = (x - mean) / sigma;
    (-0.5 * z * z).exp() / (sigma * 2.506_628_3)
}

/// The same, of numbers or arrays.
#[vectorize]
#[inline]
pub fn gaussian_pdf_of_any(x: f32, mean: f32, sigma: f32) -> f32 {
    gaussian_pdf(x, mean, sigma)
}

/// The price of a European call (Black and Scholes 1973), with the polynomial for the normal distribution of Abramowitz and Stegun, 26.2.17.
#[vectorize]
#[inline]
pub fn call_price(spot: f32, strike: f32, years: f32, #[scalar] rate: f32, #[scalar] volatility: f32) -> f32 {
    let deviation = volatility * years.sqrt();
    let d1 = ((spot / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / deviation;
    spot * cumulative_normal(d1) - strike * (-rate * years).exp() * cumulative_normal(d1 - deviation)
}

#[inline]
fn cumulative_normal(x: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let polynomial =
        k * (0.319_381_54 + k * (-0.356_563_78 + k * (1.781_477_9 + k * (-1.821_255_9 + k * 1.330_274_5))));
    let tail = 0.398_942_3 * (-0.5 * x * x).exp() * polynomial;
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// By hand.
pub mod by_hand {
    use bytemuck::Pod;

    use super::*;

    /// (a + b)².
    #[kernel]
    pub fn squared_sum(a: &[f32x4], b: &[f32x4], out: PerThread<f32x4>) {
        for (i, out) in out {
            let sum = a[i] + b[i];
            *out = sum * sum;
        }
    }

    /// (a + b)² of a number `b`.
    #[kernel]
    pub fn squared_sum_with_number(a: &[f32x4], b: f32, out: PerThread<f32x4>) {
        for (i, out) in out {
            let sum = a[i] + b;
            *out = sum * sum;
        }
    }

    /// (a + b)² of the two `f64` that one instruction loads.
    #[kernel]
    pub fn squared_sum_of_f64(a: &[f32x4], b: &[f32x4], out: PerThread<f32x4>) {
        for (i, out) in out {
            *out = squared_sums::<f64, 2>(a[i], b[i]);
        }
    }

    /// Of the eight `f16` that one instruction loads.
    #[kernel]
    pub fn squared_sum_of_f16(a: &[f32x4], b: &[f32x4], out: PerThread<f32x4>) {
        for (i, out) in out {
            *out = squared_sums::<f16, 8>(a[i], b[i]);
        }
    }

    /// Of the two complex numbers that one instruction loads.
    #[kernel]
    pub fn squared_sum_of_complex(a: &[f32x4], b: &[f32x4], out: PerThread<f32x4>) {
        for (i, out) in out {
            *out = squared_sums::<Complex<f32>, 2>(a[i], b[i]);
        }
    }

    /// (a + b)² of the numbers in 16 bytes.
    #[inline(always)]
    fn squared_sums<T, const N: usize>(a: f32x4, b: f32x4) -> f32x4
    where
        T: Copy + Add<Output = T> + Mul<Output = T>,
        [T; N]: Pod,
    {
        let (a, b): ([T; N], [T; N]) = (bytemuck::cast(a), bytemuck::cast(b));
        bytemuck::cast(array::from_fn::<T, N, _>(|lane| super::squared_sum(a[lane], b[lane])))
    }

    /// (a + b)² of arrays whose addresses are those of one number.
    #[kernel]
    pub fn squared_sum_of_numbers(a: &[f32], b: &[f32], out: PerThread<f32>) {
        for (i, out) in out {
            let sum = a[i] + b[i];
            *out = sum * sum;
        }
    }

    /// The density of the normal distribution.
    #[kernel]
    pub fn gaussian_pdf(x: &[f32x4], mean: f32, sigma: f32, out: PerThread<f32x4>) {
        for (i, out) in out {
            *out = x[i].to_array().map(|x| super::gaussian_pdf(x, mean, sigma)).into();
        }
    }

    /// The price of a European call.
    #[kernel]
    pub fn call_price(
        spot: &[f32x4],
        strike: &[f32x4],
        years: &[f32x4],
        rate: f32,
        volatility: f32,
        out: PerThread<f32x4>,
    ) {
        for (i, out) in out {
            let (spot, strike, years) = (spot[i].to_array(), strike[i].to_array(), years[i].to_array());
            *out = [0, 1, 2, 3]
                .map(|lane| super::call_price(spot[lane], strike[lane], years[lane], rate, volatility))
                .into();
        }
    }

    /// (a + b)² of every second column of `a`, and a `b` for each row.
    #[kernel(block = (128, 1))]
    pub fn squared_sum_of_every_second(a: View2d<f32>, b: &[f32], out: PerThread2d<f32>) {
        for ((row, column), out) in out {
            let sum = a[(row, 2 * column)] + b[row];
            *out = sum * sum;
        }
    }

    /// (a + b)² of every second column of `a`, and a number `b`.
    #[kernel(block = (128, 1))]
    pub fn squared_sum_of_every_second_and_number(a: View2d<f32>, b: f32, out: PerThread2d<f32>) {
        for ((row, column), out) in out {
            let sum = a[(row, 2 * column)] + b;
            *out = sum * sum;
        }
    }

    /// (a + b)² of every second row and column of the layers of `a`, from the last one on, and a `b` for each column.
    #[kernel(block = (128, 1, 1))]
    pub fn squared_sum_of_layers(a: View3d<f32>, b: &[f32], out: PerThread3d<f32>) {
        for ((layer, row, column), out) in out {
            let sum = a[(a.layers() - 1 - layer, 2 * row, 2 * column)] + b[column];
            *out = sum * sum;
        }
    }

    /// (a + b)² with a `b` for each column.
    #[kernel(block = (128, 1))]
    pub fn squared_sum_with_row(a: View2d<f32>, b: &[f32], out: PerThread2d<f32>) {
        for ((row, column), out) in out {
            let sum = a[(row, column)] + b[column];
            *out = sum * sum;
        }
    }

    /// (a + b)² of the transpose of `a`.
    #[kernel(block = (32, 8))]
    pub fn squared_sum_of_transpose(a: View2d<f32>, b: View2d<f32>, out: PerThread2d<f32>) {
        for ((row, column), out) in out {
            let sum = a[(column, row)] + b[(row, column)];
            *out = sum * sum;
        }
    }
    /// As above, but every thread has four elements, which one instruction loads.
    #[kernel(block = (128, 1))]
    pub fn squared_sum_with_row_tuned(a: View2d<f32x4>, b: &[f32x4], out: PerThread2d<f32x4>) {
        for ((row, column), out) in out {
            let sum = a[(row, column)] + b[column];
            *out = sum * sum;
        }
    }

    /// Of every second column, as [`squared_sum_with_row_tuned`].
    #[kernel(block = (128, 1))]
    pub fn squared_sum_of_every_second_tuned(a: View2d<f32x4>, b: &[f32], out: PerThread2d<f32x2>) {
        for ((row, column), out) in out {
            let [first, _, second, _] = a[(row, column)].to_array();
            let sum = f32x2::from([first + b[row], second + b[row]]);
            *out = sum * sum;
        }
    }

    /// Of the transpose, whose tiles go through shared memory, with a column of padding.
    #[kernel(block = (32, 8))]
    pub fn squared_sum_of_transpose_tuned(
        a: View2d<f32>,
        b: View2d<f32>,
        out: BlockTiles2d<f32, 32, 32>,
        mut part: Shared2d<f32, 32, 32, 1>,
    ) {
        for mut tile in out {
            let (row, column) = tile.first();
            for ((i, j), part) in &mut part {
                *part = a.get((column + i, row + j)).copied().unwrap_or(0.0);
            }
            let read = sync(part);
            for ((i, j), out) in &mut tile {
                let sum = read[(j, i)] + b[(row + i, column + j)];
                *out = sum * sum;
            }
            part = sync(read);
        }
    }
}
