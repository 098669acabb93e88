//! What all generators can: random bits, and the distributions drawn from them.

use super::{Integer, IntegerRange, Real, poisson};

/// A generator of random numbers.
///
/// ```
/// use gpu_std::rng::{Generator, Philox4x32};
///
/// let mut rng = Philox4x32::new(2026);
/// let die = rng.range(1..=6);
/// let height: f32 = 1.7 + 0.1 * rng.normal::<f32>();
/// let seconds: f64 = rng.exponential(0.25);
/// # assert!((1..=6).contains(&die) && height.is_finite() && seconds >= 0.0);
/// ```
pub trait Generator: Sized {
    /// The start of subsequence `index` of the sequence that belongs to `seed`. Equal seeds and indices give equal numbers,
    /// different indices numbers that have nothing to do with each other.
    fn subsequence(seed: u64, index: u64) -> Self;

    /// 32 random bits.
    fn next_u32(&mut self) -> u32;

    /// 64 random bits.
    fn next_u64(&mut self) -> u64;

    /// A number between 0 and 1, each multiple of 2⁻²⁴ (f32) or 2⁻⁵³ (f64) as likely as any other. 0 is one of them, 1 is not.
    #[inline]
    fn uniform<T: Real>(&mut self) -> T {
        T::uniform(self)
    }

    /// The f64 of [`uniform`](Self::uniform) rounded to an f32: finer than `uniform::<f32>` near 0, but one in 2²⁵ numbers
    /// is rounded up to 1. It is Numba's `xoroshiro128p_uniform_float32`, for programs that have to draw the same numbers.
    #[inline]
    fn uniform_rounded(&mut self) -> f32 {
        // The same bits as by way of f64, without its conversions: 53 bits are rounded once, and the power of 2 is exact.
        const SCALE: f32 = 1.0 / (1_u64 << 53) as f32;
        (self.next_u64() >> 11) as f32 * SCALE
    }

    /// A number of the normal distribution with mean 0 and standard deviation 1, computed as Numba does: by Box and Muller's
    /// method from two numbers of 64 bits.
    ///
    /// f32 takes them by [`uniform_rounded`](Self::uniform_rounded) and computes in f32. The result is within 4 units in the
    /// last place of what the same formula gives with correctly rounded functions. Where a first number of 0 would
    /// give infinity, 2⁻⁵⁴ stands for it: the largest result is 8.65.
    #[inline]
    fn normal<T: Real>(&mut self) -> T {
        T::normal_pair(self).0
    }

    /// Two independent numbers of the normal distribution for the draws that [`normal`](Self::normal) spends on one, which is
    /// the first of them.
    #[inline]
    fn normal_pair<T: Real>(&mut self) -> (T, T) {
        T::normal_pair(self)
    }

    /// A number whose logarithm has a normal distribution with this mean and standard deviation.
    #[inline]
    fn log_normal<T: Real>(&mut self, mean: T, deviation: T) -> T {
        T::log_normal(self, mean, deviation)
    }

    /// A number of the exponential distribution with this rate: the time to the next event if there are `rate` of them per
    /// unit of time; `1 / rate` on average.
    #[inline]
    fn exponential<T: Real>(&mut self, rate: T) -> T {
        T::exponential(self, rate)
    }

    /// A number of the Poisson distribution: how many events there are if `mean` of them are expected. Takes `mean` draws of
    /// 64 bits on average for means below 10, about three for those above.
    ///
    /// The algorithm is exact: Knuth's product of uniform numbers below 10, Hörmann's transformed rejection ("PTRS", 1993) above.
    ///
    /// # Panics
    /// If `mean` is negative, not a number, or above 2⁵².
    fn poisson(&mut self, mean: f64) -> u64 {
        poisson::poisson(self, mean)
    }

    /// An integer of the range, each as likely as any other (Lemire's method, 2019: one multiplication, and rarely more than
    /// one draw). Integers of up to 32 bits take draws of 32 bits, others draws of 64.
    ///
    /// # Panics
    /// If the range is empty.
    #[inline]
    fn range<T: Integer>(&mut self, range: impl IntegerRange<T>) -> T {
        let (first, last) = range.bounds();
        assert!(first <= last, "there is no integer in an empty range to choose");
        T::between(self, first, last)
    }
}
