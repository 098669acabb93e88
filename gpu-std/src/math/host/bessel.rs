//! Bessel functions in f64 that `libm` does not have.

use core::f64::consts::PI;

/// The first kind of order n, for n ≥ 0 as CUDA C++ has it.
pub(in crate::math) fn jn(n: i32, x: f64) -> f64 {
    if n < 0 { f64::NAN } else { libm::jn(n, x) }
}

/// The second kind of order n, for n ≥ 0.
pub(in crate::math) fn yn(n: i32, x: f64) -> f64 {
    if n < 0 { f64::NAN } else { libm::yn(n, x) }
}

/// The modified function of the first kind of order 0.
pub(in crate::math) fn i0(x: f64) -> f64 {
    modified(0, x.abs())
}

/// The modified function of the first kind of order 1.
pub(in crate::math) fn i1(x: f64) -> f64 {
    modified(1, x.abs()).copysign(x)
}

/// Of order 0 or 1, for x ≥ 0; to about 4 ULP.
fn modified(order: u32, x: f64) -> f64 {
    if x.is_nan() || x.is_infinite() {
        return x;
    }
    if x > 30.0 {
        return asymptotic(order, x);
    }
    // Σ (x²/4)ᵏ / (k! (k + order)!), times (x/2)^order (DLMF 10.25.2). The errors of x² add up, so it is computed with twice the digits.
    let quarter = Double::product(0.5 * x, 0.5 * x);
    let mut term = Double { high: 1.0, low: 0.0 };
    let mut sum = term;
    let mut k = 1;
    while term.high > sum.high * 1e-20 {
        term = term.times(quarter).over(f64::from(k * (k + order)));
        sum = sum.plus(term);
        k += 1;
    }
    if order == 0 { sum.high } else { sum.high * (0.5 * x) }
}

/// DLMF 10.40.1, whose least term is below e^−60 for x > 30.
fn asymptotic(order: u32, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    let order_term = f64::from(4 * order * order);
    for k in 1..25 {
        let odd = f64::from(2 * k - 1);
        term *= (odd * odd - order_term) / (f64::from(8 * k) * x);
        sum += term;
    }
    // In two factors, because eˣ overflows before the result does.
    let root = (0.5 * x).exp();
    root * (sum / (2.0 * PI * x).sqrt()) * root
}

/// A number of twice the digits of an f64: `high + low`.
#[derive(Clone, Copy)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    fn product(x: f64, y: f64) -> Self {
        let high = x * y;
        Self { high, low: x.mul_add(y, -high) }
    }

    fn times(self, rhs: Self) -> Self {
        let product = Self::product(self.high, rhs.high);
        normalised(product.high, product.low + self.high * rhs.low + self.low * rhs.high)
    }

    fn over(self, rhs: f64) -> Self {
        let high = self.high / rhs;
        normalised(high, ((-high).mul_add(rhs, self.high) + self.low) / rhs)
    }

    fn plus(self, rhs: Self) -> Self {
        let high = self.high + rhs.high;
        let error =
            if self.high >= rhs.high { rhs.high - (high - self.high) } else { self.high - (high - rhs.high) };
        normalised(high, error + self.low + rhs.low)
    }
}

fn normalised(high: f64, low: f64) -> Double {
    let sum = high + low;
    Double { high: sum, low: low - (sum - high) }
}
