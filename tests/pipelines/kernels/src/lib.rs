//! Pipelines and reductions, for tests.
#![no_std]

use gpu_std::{complex::Complex, half::f16, pipeline::*, prelude::*};

pub mod by_hand;
pub mod impure;

/// The root of the mean square difference.
#[pipeline(f32, f64)]
pub fn rmse<T: Float>(x: In<T>, y: In<T>) -> Scalar<T> {
    x.zip(y).map(|(a, b)| (a - b) * (a - b)).mean().then(|mean| mean.sqrt())
}

/// The root of the sum of the squares above a limit of the differences: five steps, in one kernel.
#[pipeline]
pub fn five_steps(x: In<f32>, y: In<f32>, limit: f32) -> Scalar<f32> {
    x.zip(y).map(|(a, b)| a - b).map(|d| d * d).filter(|square| *square > limit).sum().then(|sum| sum.sqrt())
}

/// The sum of two numbers.
#[reduction(identity = T::from_f64(0.0), f32, f64)]
pub fn sum<T: Float>(a: T, b: T) -> T {
    a + b
}

/// The greatest common divisor.
#[reduction(identity = 0)]
pub fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The larger of two values, of any type that is ordered.
#[reduction(identity = T::default(), u8, u32)]
pub fn larger<T>(a: T, b: T) -> T
where
    T: PartialOrd + Default,
{
    if a < b { b } else { a }
}

/// The product of complex numbers.
#[reduction(identity = Complex::new(1.0, 0.0))]
pub fn product(a: Complex<f32>, b: Complex<f32>) -> Complex<f32> {
    a * b
}

/// Number, mean and sum of the squares of the differences from it, combined as Chan, Golub and LeVeque do.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Moments {
    /// How many.
    pub n: f64,
    /// Their mean.
    pub mean: f64,
    /// The sum of the squares of the differences.
    pub squares: f64,
}

/// The variance, by moments of 24 bytes.
#[pipeline]
pub fn variance(x: In<f64>) -> Scalar<f64> {
    x.map(|v| Moments { n: 1.0, mean: v, squares: 0.0 })
        .reduce(Moments::default(), |a, b| {
            let n = a.n + b.n;
            if n == 0.0 {
                return a;
            }
            let d = b.mean - a.mean;
            Moments { n, mean: a.mean + d * b.n / n, squares: a.squares + b.squares + d * d * a.n * b.n / n }
        })
        .then(|moments| moments.squares / moments.n)
}

/// Counts, and sums of what is left of a filter.
#[pipeline]
pub fn sum_of_even(x: In<i32>) -> Scalar<i64> {
    x.filter(|v| v % 2 == 0).map(i64::from).sum()
}

/// The mean of what is left of a filter, which does not say how many items these are.
#[pipeline]
pub fn mean_of_even(x: In<i32>) -> Scalar<f64> {
    x.filter(|v| v % 2 == 0)
        .map(|v| [f64::from(v), 1.0])
        .reduce([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]])
        .then(|[sum, count]| sum / count)
}

/// The sum of bytes.
#[pipeline]
pub fn sum_of_bytes(x: In<u8>) -> Scalar<u64> {
    x.map(u64::from).sum()
}

/// The product of what is not 0, modulo 2³².
#[pipeline]
pub fn product_of_others(x: In<u32>) -> Scalar<u32> {
    x.filter(|v| *v != 0).product()
}

/// The least element.
#[pipeline(f32, i32)]
pub fn least<T: gpu_std::warp::LaneNumber>(x: In<T>) -> Scalar<T> {
    x.min()
}

/// The greatest element, and its negation.
#[pipeline]
pub fn greatest(x: In<i32>) -> Scalar<[i32; 2]> {
    x.max().then(|v| [v, v.wrapping_neg()])
}

/// How many elements are above a limit.
#[pipeline]
pub fn count_above(x: In<f32>, limit: f32) -> Scalar<usize> {
    x.filter(|v| *v > limit).count()
}

/// The first index with a value, or `usize::MAX`.
#[pipeline]
pub fn position(x: In<i32>, value: i32) -> Scalar<usize> {
    x.enumerate().filter_map(|(i, v)| (v == value).then_some(i)).min()
}

/// Whether an element is negative, and whether all are, in one value each.
#[pipeline]
pub fn any_negative(x: In<i32>) -> Scalar<bool> {
    x.any(|v| v < 0)
}

/// Whether all elements are negative.
#[pipeline]
pub fn all_negative(x: In<i32>) -> Scalar<bool> {
    x.all(|v| v < 0)
}

/// An estimate of π by so many rectangles, without memory.
#[pipeline]
pub fn pi(n: u32) -> Scalar<f64> {
    let width = 1.0 / f64::from(n);
    let height = move |i: u32| {
        let x = (f64::from(i) + 0.5) * width;
        4.0 / (1.0 + x * x)
    };
    range(0..n).map(height).sum().then(move |sum| sum * width)
}

/// The sum of half-precision numbers, in single precision.
#[pipeline]
pub fn sum_of_halves(x: In<f16>) -> Scalar<f32> {
    x.map(f32::from).sum()
}

/// How much each element differs from the one before.
#[pipeline]
pub fn differences(x: In<f32>) -> Out<f32> {
    x.array_windows().map(|[a, b]| b - a).collect()
}

/// The sum of each window of so many elements.
#[pipeline]
pub fn window_sums(x: In<i32>, n: u32) -> Out<i32> {
    x.windows(n as usize).map(|window| window.sum())
}

/// The last and the first element of each chunk of so many.
#[pipeline]
pub fn chunk_ends(x: In<u16>, n: u32) -> Out<[u16; 2]> {
    x.chunks(n as usize).map(|mut chunk| {
        let last = chunk.next_back().unwrap_or_default();
        [last, chunk.next().unwrap_or(last)]
    })
}

/// Every so manieth element from a place on, backwards, at most so many, with its index.
#[pipeline]
pub fn parts(x: In<u32>, skip: u32, step: u32, take: u32) -> Out<u64> {
    x.skip(skip as usize)
        .step_by(step as usize)
        .rev()
        .take(take as usize)
        .enumerate()
        .map(|(i, v)| (i as u64) << 32 | u64::from(v))
}

/// Elements of types of different sizes, of the shorter array.
#[pipeline]
pub fn mixed(a: In<u8>, b: In<f64>, factor: f32) -> Out<f32> {
    a.zip(b).map(|(a, b)| f32::from(a) * b as f32 * factor)
}

/// The elements at these indices, 0 where there is none.
#[pipeline(f32, f64)]
pub fn gather<T: Float>(x: In<T>, indices: In<u32>) -> Out<T> {
    indices.map(move |i| x.get(i as usize).unwrap_or(T::from_f64(0.0)))
}

/// A range of numbers.
#[pipeline(i32, u64)]
pub fn numbers<T: RangeNumber + DeviceCopy>(start: T, end: T) -> Out<T> {
    range(start..end)
}

/// Five bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, DeviceCopy, bytemuck::Zeroable)]
#[repr(C)]
pub struct Five(pub [u8; 5]);

/// The elements that are not 0, as five bytes.
#[pipeline]
pub fn fives(x: In<u8>) -> Compact<Five> {
    x.filter(|v| *v != 0).map(|v| Five([v; 5]))
}

/// The bytes from a limit on, each with its index in the bits above.
#[pipeline]
pub fn from_limit(x: In<u8>, limit: u8) -> Compact<u64> {
    x.enumerate().filter(move |(_, v)| *v >= limit).map(|(i, v)| (i as u64) << 8 | u64::from(v))
}

/// The indices of positive elements.
#[pipeline]
pub fn positives(x: In<f32>) -> Compact<u32> {
    x.enumerate().filter(|(_, v)| *v > 0.0).map(|(i, _)| i as u32)
}

/// Sums up to each element.
#[pipeline(f32, i64)]
pub fn running_sum<T: gpu_std::warp::LaneNumber + core::ops::Add<Output = T> + Default>(x: In<T>) -> Scan<T> {
    x.inclusive_scan(T::default(), |a, b| a + b)
}

/// Sums before each element, modulo a number, as text would count them: not commutative in its parts.
#[pipeline]
pub fn offsets(x: In<u8>) -> Scan<u64> {
    x.map(u32::from).exclusive_scan(0, |a, b| a + b).map(|sum| u64::from(sum) << 1).collect()
}

/// Composes the affine maps `x ↦ a·x + b` modulo a prime up to each of them: associative and not commutative.
#[pipeline]
pub fn composed(x: In<[u32; 2]>) -> Scan<[u32; 2]> {
    x.inclusive_scan([1, 0], |[a, b], [c, d]| {
        const PRIME: u64 = 65_521;
        let modulo = |x: u64| (x % PRIME) as u32;
        let (a, b, c, d) = (u64::from(a), u64::from(b), u64::from(c), u64::from(d));
        [modulo(a * c), modulo(b * c + d)]
    })
}

/// `e^(x - max) / Σ e^(x - max)` of each row.
#[pipeline(f32, f64)]
pub fn softmax<T: Float>(x: In2d<T>) -> Out2d<T> {
    x.rows().map(|row| {
        let max = row.max();
        let powers = row.map(move |v| (v - max).exp()).cached();
        let sum = powers.sum();
        powers.map(move |power| power / sum)
    })
}

/// Each row, less its mean and divided by its standard deviation, scaled and moved.
#[pipeline]
pub fn layer_norm(x: In2d<f32>, scale: In<f32>, offset: In<f32>) -> Out2d<f32> {
    x.rows().map(move |row| {
        let mean = row.mean();
        let variance = row.map(|v| (v - mean) * (v - mean)).mean();
        let factor = 1.0 / (variance + 1e-5).sqrt();
        row.zip(scale).zip(offset).map(move |((v, scale), offset)| (v - mean) * factor * scale + offset)
    })
}

/// Each row backwards, with its index.
#[pipeline]
pub fn reversed_rows(x: In2d<u8>) -> Out2d<u16> {
    x.rows().enumerate().map(|(i, row)| row.rev().map(move |v| (i as u16) << 8 | u16::from(v)))
}

/// The cosine of the angle between the rows of two matrices.
#[pipeline]
pub fn cosines(a: In2d<f32>, b: In2d<f32>) -> PerRow<f32> {
    a.rows().zip(b.rows()).map(|(a, b)| {
        let length = |row: Row<f32>| row.map(|v| v * v).sum().sqrt();
        a.zip(b).map(|(a, b)| a * b).sum() / (length(a) * length(b))
    })
}

/// Whether each row has an element above a limit, and how many.
#[pipeline]
pub fn above(x: In2d<i32>, limit: i32) -> PerRow<[u32; 2]> {
    x.rows().map(|row| [u32::from(row.any(|v| v > limit)), row.filter(|v| *v > limit).count() as u32])
}

/// The sum of each row but for its first element, and that of the row of another matrix, which has any length.
#[pipeline]
pub fn sums_of_two(a: In2d<i32>, b: In2d<i32>) -> PerRow<[i32; 2]> {
    a.rows().zip(b.rows()).map(|(a, b)| [a.skip(1).sum(), b.sum()])
}

/// The sums of the rows of two matrices, by which the order of additions is seen.
#[pipeline]
pub fn float_sums_of_two(a: In2d<f32>, b: In2d<f32>) -> PerRow<[f32; 2]> {
    a.rows().zip(b.rows()).map(|(a, b)| [a.sum(), b.sum()])
}

/// The second element of each window in each row is the first of the next: a row of another length, which is refused.
#[pipeline]
pub fn shorter_rows(x: In2d<i32>) -> Out2d<i32> {
    x.rows().map(|row| row.skip(1))
}

/// The index of each row modulo 251, and the sum of its elements.
#[pipeline]
pub fn numbered_sums(x: In2d<u8>) -> PerRow<[u8; 2]> {
    x.rows().enumerate().map(|(i, row)| [(i % 251) as u8, row.map(u32::from).sum() as u8])
}

/// Five bytes, which no instruction loads at once: a thread has one of these.
#[pipeline]
pub fn five_of(n: u64) -> Out<Five> {
    range(0..n).map(|i| Five(core::array::from_fn(|byte| (i >> (8 * byte)) as u8)))
}

/// 100 divided by each element, which is a panic for 0.
#[pipeline]
pub fn quotients(x: In<i32>) -> Out<i32> {
    x.map(|v| 100 / v)
}

/// The quotients that are even.
#[pipeline]
pub fn even_quotients(x: In<i32>) -> Compact<i32> {
    x.map(|v| 100 / v).filter(|v| v % 2 == 0)
}

/// Sums of the quotients.
#[pipeline]
pub fn running_quotients(x: In<i32>) -> Scan<i32> {
    x.map(|v| 100 / v).inclusive_scan(0, |a, b| a + b)
}

/// Sum of the quotients.
#[pipeline]
pub fn sum_of_quotients(x: In<i32>) -> Scalar<i32> {
    x.map(|v| 100 / v).sum()
}

/// Reads an element where the pipeline is made.
#[pipeline]
pub fn reads_at_once(x: In<i32>) -> Out<i32> {
    let first = x.get(0).unwrap_or(0);
    x.map(move |v| v - first)
}
