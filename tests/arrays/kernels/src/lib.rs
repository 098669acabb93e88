//! Scalar functions as functions of arrays, core functions and a few pipelines, for tests.
#![no_std]
#![forbid(unsafe_code)]

use gpu_std::{complex::Complex, half::f16, prelude::*};

pub mod cores;
pub mod pipelines;

/// The density of the normal distribution.
#[vectorize(f32, f64)]
pub fn gaussian_pdf<T: Float>(x: T, #[scalar] mean: T, #[scalar] sigma: T) -> T {
    let z = (x - mean) / sigma;
    (T::from_f64(-0.5) * z * z).exp() / (sigma * T::from_f64(2.506_628_274_631_000_2))
}

/// The distance of two points in polar coordinates.
#[vectorize]
pub fn polar_distance(rho1: f32, theta1: f32, rho2: f32, theta2: f32) -> f32 {
    let (x, y) = (rho1 * theta1.cos() - rho2 * theta2.cos(), rho1 * theta1.sin() - rho2 * theta2.sin());
    (x * x + y * y).sqrt()
}

/// (a + b)².
#[vectorize(f32, f64, i32, Complex<f32>)]
pub fn squared_sum<T>(a: T, b: T) -> T
where
    T: Copy + core::ops::Add<Output = T> + core::ops::Mul<Output = T>,
{
    (a + b) * (a + b)
}

/// The same, four elements per thread, as one writes it by hand.
#[kernel]
pub fn squared_sum_by_hand(
    a: &[gpu_std::vector::f32x4],
    b: &[gpu_std::vector::f32x4],
    out: PerThread<gpu_std::vector::f32x4>,
) {
    for (i, out) in out {
        let sum = a[i] + b[i];
        *out = sum * sum;
    }
}

/// The sum of half-precision numbers.
#[vectorize]
pub fn add_halves(a: f16, b: f16) -> f16 {
    a + b
}

/// Scales numbers of one type by those of another.
#[vectorize(<f32, i32>, <f64, u8>)]
pub fn scale<T: Float, S: Copy + Into<f64>>(x: T, by: S) -> T {
    x * T::from_f64(by.into())
}

/// Divides, which is a panic by 0.
#[vectorize(i32, u8)]
pub fn quotient<T: core::ops::Div<Output = T>>(a: T, b: T) -> T {
    a / b
}

/// How many of Collatz' steps lead from a number to 1, up to a limit: some numbers take much longer than others.
#[vectorize]
pub fn collatz(number: i32, limit: i32) -> i32 {
    let (mut number, mut steps) = (number, 0);
    while number > 1 && steps < limit {
        number = if number % 2 == 0 { number / 2 } else { 3 * number + 1 };
        steps += 1;
    }
    steps
}

/// After how many rounds a generator of numbers gives one that 13 divides, up to a limit.
#[vectorize]
pub fn rounds(seed: i32, step: i32, limit: u32) -> u32 {
    let mut state = seed;
    for i in 0..limit {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(step);
        if state % 13 == 0 {
            return i;
        }
    }
    limit
}

/// The same, of a limit that most calls pass as a value.
#[vectorize]
pub fn rounds_to(seed: i32, step: i32, #[scalar] limit: u32) -> u32 {
    let (mut state, mut i) = (seed, 0);
    while i < limit {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(step);
        if state % 13 == 0 {
            break;
        }
        i += 1;
    }
    i
}

/// Whether a number is less than another.
#[vectorize(f32)]
pub fn less<T: PartialOrd>(a: T, b: T) -> bool {
    a < b
}

/// A closed interval, of twelve bytes with its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy, bytemuck::Zeroable)]
#[repr(C)]
pub struct Interval {
    /// The lower bound.
    pub low: f32,
    /// The upper bound.
    pub high: f32,
    /// Where it comes from.
    pub kind: u8,
}

/// The smallest interval around two.
#[vectorize]
pub fn hull(a: Interval, b: Interval) -> Interval {
    Interval { low: a.low.min(b.low), high: a.high.max(b.high), kind: a.kind.max(b.kind) }
}

/// Whether two differ: of more, whether an odd number is true.
#[vectorize]
pub fn differ(a: bool, b: bool) -> bool {
    a != b
}

/// The width of an interval.
#[vectorize]
pub fn width(of: Interval) -> f32 {
    of.high - of.low
}

/// The first number, or a polynomial of it with the other seven.
#[vectorize]
#[allow(clippy::too_many_arguments)]
pub fn polynomial(x: f64, a: f64, b: f64, c: f64, d: f64, e: f64, f: f64, g: f64) -> f64 {
    a + x * (b + x * (c + x * (d + x * (e + x * (f + x * g)))))
}

/// Functions of arrays are called by other kernels, and by each other.
#[vectorize]
pub fn doubled_density(x: f32) -> f32 {
    2.0 * gaussian_pdf(x, 0.0, 1.0)
}

/// The largest of two numbers: associative, and exact.
#[vectorize(i32, f32, u64)]
pub fn maximum<T: PartialOrd>(a: T, b: T) -> T {
    if a < b { b } else { a }
}

/// Composes two affine maps modulo a prime, packed as `a << 32 | b`: associative and not commutative.
#[vectorize]
pub fn compose(first: u64, second: u64) -> u64 {
    const PRIME: u64 = 1_000_003;
    let ((a, b), (c, d)) = ((first >> 32, first & 0xffff_ffff), (second >> 32, second & 0xffff_ffff));
    (a * c % PRIME) << 32 | ((b * c + d) % PRIME)
}

/// A byte of two, which says what each of them was if the other is known.
#[vectorize]
pub fn mixed(a: u8, b: u8) -> u8 {
    a.rotate_left(3) ^ b
}

/// Kernels with the parameters of elementwise kernels.
pub mod by_hand {
    use gpu_std::{elementwise::*, prelude::*};

    /// Copies chunks.
    #[kernel]
    pub fn copy_chunks(x: SliceOrScalar<i32>, out: PerThreadChunks<i32, 4>) {
        out.map((x,), |(x,)| x);
    }

    /// Doubles each element.
    #[kernel]
    pub fn double(x: ViewNdOrScalar<i32>, out: PerThreadNd<i32>) {
        out.map((x,), |(x,)| 2 * x);
    }

    /// Sums parts of rows.
    #[kernel]
    pub fn sums(x: ViewNdOrScalar<i32>, out: PerThreadNd<i32>) {
        out.reduce(x, |a, b| a + b);
    }

    /// Threads that call different methods, with different inputs.
    #[kernel]
    pub fn by_turns(x: ViewNdOrScalar<i32>, y: ViewNdOrScalar<i32>, out: PerThreadNd<i32>) {
        match global_rank() % 3 {
            0 => out.map((x,), |(x,)| x),
            1 => out.map((y, x), |(y, _)| y),
            _ => out.reduce(x, |a, _| a),
        }
    }

    /// Doubles an array of the extents of the output.
    #[kernel(requires = !x.is_scalar() && x.shape() == out.shape())]
    pub fn double_of_shape(x: ViewNdOrScalar<i32>, out: PerThreadNd<i32>) {
        out.map((x,), |(x,)| 2 * x);
    }

    /// Doubles each element of an array of two axes at most.
    #[kernel]
    pub fn double_plane(x: PlaneOrScalar<i32>, out: PerThreadPlane<i32>) {
        out.map((x,), |(x,)| 2 * x);
    }

    /// Threads that pass different inputs.
    #[kernel]
    pub fn plane_by_turns(x: ViewPlane<i32>, y: PlaneOrScalar<i32>, out: PerThreadPlane<i32>) {
        match global_rank() % 2 {
            0 => out.map((x,), |(x,)| x),
            _ => out.map((y, x), |(y, _)| y),
        }
    }

    /// Doubles an array of the extents of the output.
    #[kernel(requires = !x.is_scalar() && x.shape() == out.shape())]
    pub fn double_plane_of_shape(x: PlaneOrScalar<i32>, out: PerThreadPlane<i32>) {
        out.map((x,), |(x,)| 2 * x);
    }

    /// Scales an array of the extents of the output.
    #[kernel(requires = x.shape() == out.shape())]
    pub fn scale_plane_of_shape(x: ViewPlane<i32>, by: i32, out: PerThreadPlane<i32>) {
        out.map((x, Splat(by)), |(x, by)| x * by);
    }

    /// Scales an array, whatever its extents.
    #[kernel]
    pub fn scale_plane(x: ViewPlane<i32>, by: i32, out: PerThreadPlane<i32>) {
        out.map((x, Splat(by)), |(x, by)| x * by);
    }

    /// Each row, of which an element is subtracted from the next: not associative.
    #[kernel]
    pub fn differences(x: ViewNdOrScalar<i32>, out: PerThreadNd<i32>) {
        out.reduce(x, |a, b| b - a);
    }

    /// The same up to each element.
    #[kernel]
    pub fn running_differences(x: ViewNdOrScalar<i32>, out: PerThreadRows<i32>) {
        out.accumulate(x, |a, b| b - a);
    }

    /// Sums of rows up to each element.
    #[kernel]
    pub fn running_sums(x: ViewNdOrScalar<i32>, out: PerThreadRows<i32>) {
        out.accumulate(x, |a, b| a + b);
    }
}
