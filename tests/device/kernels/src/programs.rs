//! The programs of the documents that teach Numba's CUDA target, as kernels. What can be a plain function is one, for the host
//! to call too.

use gpu_std::{
    math::special::erfc,
    prelude::{memory::*, *},
};

/// The sum of two vectors.
#[kernel]
pub fn vector_add(a: &[f32], b: &[f32], sum: PerThread<f32>) {
    for (i, sum) in sum {
        *sum = a[i] + b[i];
    }
}

/// The density of the normal distribution.
pub fn gaussian_pdf(x: f32, mean: f32, sigma: f32) -> f32 {
    let distance = (x - mean) / sigma;
    (-0.5 * distance * distance).exp() / (sigma * core::f32::consts::TAU.sqrt())
}

/// That of every element.
#[kernel]
pub fn gaussian_pdfs(x: &[f32], mean: f32, sigma: f32, density: PerThread<f32>) {
    for (i, density) in density {
        *density = gaussian_pdf(x[i], mean, sigma);
    }
}

/// Returns two values, as device functions may.
fn polar_to_cartesian(rho: f32, theta: f32) -> (f32, f32) {
    let (sin, cos) = theta.sin_cos();
    (rho * cos, rho * sin)
}

/// The distance of two points given by radius and angle.
pub fn polar_distance(a: [f32; 2], b: [f32; 2]) -> f32 {
    let ((x1, y1), (x2, y2)) = (polar_to_cartesian(a[0], a[1]), polar_to_cartesian(b[0], b[1]));
    (x1 - x2).hypot(y1 - y2)
}

/// That of every pair.
#[kernel]
pub fn polar_distances(a: &[[f32; 2]], b: &[[f32; 2]], distance: PerThread<f32>) {
    for (i, distance) in distance {
        *distance = polar_distance(a[i], b[i]);
    }
}

/// Counts threads twice: in one step, and by reading and then writing, which loses counts.
#[kernel]
pub fn count_threads(exact: &[Atomic<u32>], racy: &[RelaxedCell<u32>]) {
    exact[0].fetch_add(1);
    racy[0].store(racy[0].load() + 1);
}

/// Counts values in `bins.len()` bins between `low` and `high`; those outside do not count.
#[kernel]
pub fn histogram(values: &[f32], low: f32, high: f32, bins: &[Atomic<u32>]) {
    let width = (high - low) / bins.len() as f32;
    for i in grid_stride(values.len()) {
        let bin = ((values[i] - low) / width).floor();
        if bin >= 0.0 && bin < bins.len() as f32 {
            bins[bin as usize].fetch_add(1);
        }
    }
}

/// The same with the bug of the document: values outside of the bins are counted somewhere else.
#[kernel]
pub fn histogram_with_bug(values: &[f32], low: f32, high: f32, bins: &[Atomic<u32>]) {
    let width = (high - low) / bins.len() as f32;
    for i in grid_stride(values.len()) {
        let bin = ((values[i] - low) / width) as usize;
        bins[bin].fetch_add(1);
    }
}

/// Divides each row by its mean.
#[kernel]
pub fn normalise(rows: PerThread<[f32; 3]>) {
    for (_, row) in rows {
        let mean = row.iter().sum::<f32>() / 3.0;
        *row = row.map(|x| x / mean);
    }
}

/// Adds 1, to see how a launch runs while the host goes on.
#[kernel]
pub fn increment(values: PerThread<i32>, by: i32) {
    for (_, value) in values {
        *value += by;
    }
}

/// The sum of the elements that each block takes, halved again and again in shared memory.
#[kernel(block = 128)]
pub fn block_sums(x: &[f64], sums: PerBlock<f64>, mut part: Shared<f64, 128>) {
    for (_, part) in &mut part {
        *part = grid_stride(x.len()).map(|i| x[i]).sum();
    }
    let mut half = 64;
    while half > 0 {
        let view = sync(part);
        let me = thread_index().x as usize;
        let sum = if me < half { view[me] + view[me + half] } else { 0.0 };
        part = sync(view);
        for (_, part) in &mut part {
            *part = sum;
        }
        half /= 2;
    }
    let view = sync(part);
    for (_, sum) in sums {
        *sum = view[0];
    }
}

/// Rounds to decimal places.
#[kernel]
pub fn round_to(x: &[f64], places: i32, rounded: PerThread<f64>) {
    let factor = 10_f64.powi(places);
    for (i, rounded) in rounded {
        *rounded = (x[i] * factor).round_ties_even() / factor;
    }
}

/// (a + b)².
#[kernel]
pub fn squared_sum(a: &[f64], b: &[f64], out: PerThread<f64>) {
    fn square(x: f64) -> f64 {
        x * x
    }
    for (i, out) in out {
        *out = square(a[i] + b[i]);
    }
}

/// A product of matrices of 2 × 4 and 4 × 5 per thread.
#[kernel]
pub fn batched_matmul(a: &[[[f32; 4]; 2]], b: &[[[f32; 5]; 4]], out: PerThread<[[f32; 5]; 2]>) {
    for (i, out) in out {
        for (out, a) in out.iter_mut().zip(&a[i]) {
            *out = [0.0; 5];
            for (a, b) in a.iter().zip(&b[i]) {
                for (out, b) in out.iter_mut().zip(b) {
                    *out += a * b;
                }
            }
        }
    }
}

/// Whether a number is prime.
pub fn is_prime(n: u32) -> bool {
    n >= 2 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d))
}

/// Which numbers are, in one launch.
#[kernel]
pub fn primes(found: PerThread<bool>) {
    for (i, found) in found {
        *found = is_prime(i as u32);
    }
}

/// 2 (x − y) / (x + y).
#[kernel]
pub fn rel_diff(x: &[f32], y: &[f32], out: PerThread<f32>) {
    for (i, out) in out {
        *out = 2.0 * (x[i] - y[i]) / (x[i] + y[i]);
    }
}

/// The largest and the smallest element of each row.
#[kernel]
pub fn max_min(rows: View2d<f64>, largest: PerThread<f64>, smallest: PerThread<f64>) {
    for (i, largest) in largest {
        *largest = (0..rows.columns()).map(|column| rows[(i, column)]).fold(f64::NEG_INFINITY, f64::max);
    }
    for (i, smallest) in smallest {
        *smallest = (0..rows.columns()).map(|column| rows[(i, column)]).fold(f64::INFINITY, f64::min);
    }
}

/// A type of one's own with methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// How long it is.
    pub fn width(self) -> f64 {
        self.high - self.low
    }
}

impl core::ops::Add for Interval {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }
}

/// Sums of intervals, and their widths.
#[kernel]
pub fn add_intervals(a: &[Interval], b: &[Interval], sum: PerThread<Interval>, width: PerThread<f64>) {
    for (i, sum) in sum {
        *sum = a[i] + b[i];
    }
    for (i, width) in width {
        *width = (a[i] + b[i]).width();
    }
}

/// The prices of a call and a put option by Black and Scholes's formula.
pub fn black_scholes(price: f64, strike: f64, years: f64, rate: f64, volatility: f64) -> [f64; 2] {
    fn cumulative(x: f64) -> f64 {
        0.5 * erfc(-x / core::f64::consts::SQRT_2)
    }
    let spread = volatility * years.sqrt();
    let d1 = ((price / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / spread;
    let d2 = d1 - spread;
    let discounted = strike * (-rate * years).exp();
    let call = price * cumulative(d1) - discounted * cumulative(d2);
    [call, call - price + discounted]
}

/// Those of every option, given by price, strike price and years.
#[kernel]
pub fn option_prices(options: &[[f64; 3]], rate: f64, volatility: f64, prices: PerThread<[f64; 2]>) {
    for (i, prices) in prices {
        let [price, strike, years] = options[i];
        *prices = black_scholes(price, strike, years, rate, volatility);
    }
}

/// Transposes tiles of 32 × 32 by 32 × 8 threads, through shared memory whose padding keeps columns in different banks.
#[kernel(block = (32, 8))]
pub fn transpose(x: View2d<f32>, mut y: BlockTiles2d<f32, 32, 32>, mut tile: Shared2d<f32, 32, 32, 1>) {
    let first = y.first_mut().map(|tile| tile.first());
    for ((row, column), element) in &mut tile {
        *element = match first {
            // The tile of the input lies where that of the output does when rows and columns change places.
            Some((top, left)) => x.get((left + row, top + column)).copied().unwrap_or(0.0),
            None => 0.0,
        };
    }
    let tile = sync(tile);
    if let Some(mut output) = y.first_mut() {
        for ((row, column), element) in &mut output {
            *element = tile[(column, row)];
        }
    }
}
