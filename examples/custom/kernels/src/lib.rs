//! Intervals: a type that host and kernels share, with methods, an operator, and functions of arrays.
#![no_std]
#![forbid(unsafe_code)]

use core::ops::Add;

use gpu_std::prelude::*;

/// The numbers from `low` to below `high`.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy, bytemuck::Zeroable)]
#[repr(C)]
pub struct Interval {
    /// The least.
    pub low: f64,
    /// What comes after the greatest.
    pub high: f64,
}

/// An interval that kernels know without being passed it.
pub const FROM_ONE_TO_TWO: Interval = Interval::new(1.0, 2.0);

impl Interval {
    /// The interval between two numbers.
    pub const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// How long it is.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// Whether a number is in it.
    pub fn contains(self, x: f64) -> bool {
        (self.low..self.high).contains(&x)
    }
}

/// The sums of numbers from two intervals.
impl Add for Interval {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(self.low + other.low, self.high + other.high)
    }
}

/// Creates an interval, and computes from it and another what there is to compute: one result for each number of `out`.
#[kernel]
pub fn examine(given: Interval, out: PerThread<f64>) {
    for (i, out) in out {
        let created = Interval::new(1.0, 3.0);
        let sum = created + given;
        *out = match i {
            0 => created.low + created.high,
            1 => created.width(),
            2 => f64::from(u8::from(created.contains(2.5))),
            3 => f64::from(u8::from(created.contains(3.5))),
            4 => sum.low,
            5 => sum.high,
            6 => f64::from(u8::from(created == given)),
            7 => given.low - FROM_ONE_TO_TWO.low,
            _ => f64::NAN,
        };
    }
}

/// How long each interval is.
#[vectorize]
pub fn width(of: Interval) -> f64 {
    of.width()
}

/// Whether numbers are in intervals.
#[vectorize]
pub fn contains(interval: Interval, x: f64) -> bool {
    interval.contains(x)
}

/// The smallest interval around two. It is associative, so that it reduces arrays.
#[vectorize]
pub fn hull(a: Interval, b: Interval) -> Interval {
    Interval::new(a.low.min(b.low), a.high.max(b.high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_not_in_an_interval() {
        let interval = Interval::new(1.0, 3.0);
        assert_eq!(
            [0.5, 1.0, 2.5, 3.0, f64::NAN].map(|x| interval.contains(x)),
            [false, true, true, false, false]
        );
    }
}
