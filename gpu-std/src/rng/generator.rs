//! [`Generator`]: random bits, and the distributions drawn from them.

use super::{Integer, IntegerRange, Real, poisson};

/// A random number generator: random bits and distributions (`curand`, `curand_uniform`, `curand_normal`, …).
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
    /// Creates a generator at the start of subsequence `index` of the sequence of `seed` (`curand_init(seed, index, 0, …)`). Equal seeds
    /// and indices give equal numbers; different indices give independent numbers.
    #[doc(
        alias = "curand_init",
        alias = "create_xoroshiro128p_states",
        alias = "init_xoroshiro128p_states",
        alias = "curandState"
    )]
    fn subsequence(seed: u64, index: u64) -> Self;

    /// Draws 32 random bits (`curand`).
    #[doc(alias = "curand")]
    fn next_u32(&mut self) -> u32;

    /// Draws 64 random bits.
    #[doc(alias = "curand", alias = "xoroshiro128p_next")]
    fn next_u64(&mut self) -> u64;

    /// Draws a uniformly distributed number, 0 ≤ u < 1: a multiple of 2⁻²⁴ (f32) or 2⁻⁵³ (f64). `curand_uniform` has 0 < u ≤ 1.
    #[doc(alias = "curand_uniform", alias = "curand_uniform_double", alias = "xoroshiro128p_uniform_float64")]
    #[inline]
    fn uniform<T: Real>(&mut self) -> T {
        T::uniform(self)
    }

    /// Draws the f64 of [`uniform`](Self::uniform), rounded to an f32: finer than `uniform::<f32>` near 0, but one in 2²⁵ numbers is
    /// rounded up to 1. It is Numba's `xoroshiro128p_uniform_float32`, for programs that have to draw the same numbers.
    #[doc(alias = "xoroshiro128p_uniform_float32")]
    #[inline]
    fn uniform_rounded(&mut self) -> f32 {
        // The same bits as by way of f64, without its conversions: 53 bits are rounded once, and the power of 2 is exact.
        const SCALE: f32 = 1.0 / (1_u64 << 53) as f32;
        (self.next_u64() >> 11) as f32 * SCALE
    }

    /// Draws a normally distributed number with mean 0 and standard deviation 1 (`curand_normal`), computed as Numba does: by the
    /// Box-Muller transform of two 64-bit draws.
    ///
    /// For f32 they are drawn by [`uniform_rounded`](Self::uniform_rounded) and transformed in f32. The result is within 4 units in the
    /// last place of the same formula with correctly rounded functions. A first number of 0, which would give infinity, is replaced by
    /// 2⁻⁵⁴: the largest result is 8.65.
    #[doc(alias = "curand_normal", alias = "curand_normal_double", alias = "xoroshiro128p_normal_float32")]
    #[doc(alias = "xoroshiro128p_normal_float64", alias = "gaussian")]
    #[inline]
    fn normal<T: Real>(&mut self) -> T {
        T::normal_pair(self).0
    }

    /// Draws two independent normally distributed numbers (`curand_normal2`) from the draws that [`normal`](Self::normal) takes for one.
    /// The first of them is that of `normal`.
    #[doc(alias = "curand_normal2", alias = "curand_normal2_double", alias = "box_muller")]
    #[inline]
    fn normal_pair<T: Real>(&mut self) -> (T, T) {
        T::normal_pair(self)
    }

    /// Draws a log-normally distributed number, whose logarithm has this mean and standard deviation (`curand_log_normal`).
    #[doc(alias = "curand_log_normal", alias = "curand_log_normal_double")]
    #[inline]
    fn log_normal<T: Real>(&mut self, mean: T, deviation: T) -> T {
        T::log_normal(self, mean, deviation)
    }

    /// Draws an exponentially distributed number with this rate: the time to the next event if there are `rate` events per unit of
    /// time. The mean is `1 / rate`.
    #[inline]
    fn exponential<T: Real>(&mut self, rate: T) -> T {
        T::exponential(self, rate)
    }

    /// Draws a Poisson-distributed number (`curand_poisson`): the number of events if `mean` events are expected. Takes `mean` draws of
    /// 64 bits on average for means below 10, about three for larger ones.
    ///
    /// The algorithm is exact: Knuth's product of uniform numbers for means below 10, Hörmann's transformed rejection ("PTRS", 1993)
    /// for larger ones.
    ///
    /// # Panics
    /// If `mean` is negative, not a number, or above 2⁵².
    #[doc(alias = "curand_poisson")]
    fn poisson(&mut self, mean: f64) -> u64 {
        poisson::poisson(self, mean)
    }

    /// Draws a uniformly distributed integer of the range, without bias (Lemire's method, 2019: one multiplication, and rarely more than
    /// one draw). Integers of up to 32 bits take draws of 32 bits, larger ones draws of 64.
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
