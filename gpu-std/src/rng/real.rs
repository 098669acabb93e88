//! Distributions over f32 and f64.

use super::Generator;
use crate::Float;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The floating-point types of random numbers, `f32` and `f64`: see [`Generator::uniform`] and the methods after it.
pub trait Real: Float + sealed::Sealed {
    #[doc(hidden)]
    fn uniform(rng: &mut impl Generator) -> Self;
    #[doc(hidden)]
    fn normal_pair(rng: &mut impl Generator) -> (Self, Self);
    #[doc(hidden)]
    fn log_normal(rng: &mut impl Generator, mean: Self, deviation: Self) -> Self;
    #[doc(hidden)]
    fn exponential(rng: &mut impl Generator, rate: Self) -> Self;
}

macro_rules! real {
    ($t:ident, uniform = $uniform:expr, of_normal = $of_normal:expr) => {
        impl Real for $t {
            #[inline]
            fn uniform(rng: &mut impl Generator) -> Self {
                $uniform(rng)
            }

            #[inline]
            fn normal_pair(rng: &mut impl Generator) -> (Self, Self) {
                /// Replaces 0, which has no logarithm: half of the smallest other number drawn.
                const LEAST: $t = 1.0 / (1_u64 << 54) as $t;
                let (u, v): ($t, $t) = ($of_normal(rng), $of_normal(rng));
                let radius = Float::sqrt(-2.0 * Float::ln(u.max(LEAST)));
                let (sin, cos) = Float::sin_cos(core::$t::consts::TAU * v);
                (radius * cos, radius * sin)
            }

            #[inline]
            fn log_normal(rng: &mut impl Generator, mean: Self, deviation: Self) -> Self {
                // Rounded once on every device.
                Float::exp(Float::mul_add(deviation, Self::normal_pair(rng).0, mean))
            }

            #[inline]
            fn exponential(rng: &mut impl Generator, rate: Self) -> Self {
                // The difference is exact and never 0; its logarithm is never positive.
                Float::ln(1.0 - Self::uniform(rng)).abs() / rate
            }
        }
    };
}

real!(f32, uniform = uniform_f32, of_normal = Generator::uniform_rounded);
real!(f64, uniform = uniform_f64, of_normal = uniform_f64);

#[inline]
fn uniform_f32(rng: &mut impl Generator) -> f32 {
    (rng.next_u32() >> 8) as f32 * (1.0 / (1_u32 << 24) as f32)
}

#[inline]
fn uniform_f64(rng: &mut impl Generator) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use crate::rng::{Generator, Xoroshiro128Plus, Xoshiro256PlusPlus};

    /// A generator that always returns the same bits.
    struct Constant(u64);

    impl Generator for Constant {
        fn subsequence(seed: u64, _index: u64) -> Self {
            Self(seed)
        }

        fn next_u32(&mut self) -> u32 {
            (self.0 >> 32) as u32
        }

        fn next_u64(&mut self) -> u64 {
            self.0
        }
    }

    #[test]
    fn uniform_numbers_reach_0_but_not_1() {
        let (mut least, mut most) = (Constant(0), Constant(u64::MAX));
        assert_eq!((least.uniform::<f32>(), least.uniform::<f64>()), (0.0, 0.0));
        assert_eq!(most.uniform::<f32>(), 1.0_f32.next_down());
        assert_eq!(most.uniform::<f64>(), 1.0_f64.next_down());
    }

    #[test]
    fn rounded_uniform_numbers_reach_1() {
        assert_eq!(Constant(0).uniform_rounded(), 0.0);
        assert_eq!(Constant(u64::MAX).uniform_rounded(), 1.0);
    }

    #[test]
    fn rounded_uniform_numbers_are_those_by_way_of_f64() {
        let mut rng = Xoshiro256PlusPlus::new(9);
        for shift in (0..64).cycle().take(100_000) {
            let bits = rng.next_u64() >> shift;
            let by_way_of_f64 = ((bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)) as f32;
            assert_eq!(Constant(bits).uniform_rounded().to_bits(), by_way_of_f64.to_bits(), "{bits:#x}");
        }
    }

    #[test]
    fn normal_numbers_are_finite_for_every_uniform_one() {
        for bits in [0, 1 << 11, 1 << 63, u64::MAX] {
            let (x, y) = Constant(bits).normal_pair::<f32>();
            assert!(x.is_finite() && y.is_finite() && x.abs() < 8.66, "{bits:#x}: {x} {y}");
            let (x, y) = Constant(bits).normal_pair::<f64>();
            assert!(x.is_finite() && y.is_finite() && x.abs() < 8.66, "{bits:#x}: {x} {y}");
        }
    }

    #[test]
    fn exponential_numbers_are_neither_negative_nor_infinite() {
        for bits in [0, u64::MAX] {
            let x = Constant(bits).exponential(2.0_f32);
            assert!(x.is_sign_positive() && x.is_finite(), "{bits:#x}: {x}");
            let x = Constant(bits).exponential(2.0_f64);
            assert!(x.is_sign_positive() && x.is_finite(), "{bits:#x}: {x}");
        }
    }

    /// Compares mean and variance of a sample with the expected ones, within 5 standard errors.
    fn check(expected: (f64, f64), fourth: f64, mut draw: impl FnMut(&mut Xoroshiro128Plus) -> f64) {
        const COUNT: usize = 200_000;
        let mut rng = Xoroshiro128Plus::new(5);
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..COUNT {
            let deviation = draw(&mut rng) - expected.0;
            sum += deviation;
            squares += deviation * deviation;
        }
        let count = COUNT as f64;
        assert!((sum / count).abs() < 5.0 * (expected.1 / count).sqrt(), "mean off by {}", sum / count);
        let error = ((fourth - expected.1 * expected.1) / count).sqrt();
        assert!((squares / count - expected.1).abs() < 5.0 * error, "variance {}", squares / count);
    }

    #[test]
    fn moments_of_uniform_numbers() {
        check((0.5, 1.0 / 12.0), 1.0 / 80.0, |rng| rng.uniform());
        check((0.5, 1.0 / 12.0), 1.0 / 80.0, |rng| f64::from(rng.uniform::<f32>()));
        check((0.5, 1.0 / 12.0), 1.0 / 80.0, |rng| f64::from(rng.uniform_rounded()));
    }

    #[test]
    fn moments_of_normal_numbers() {
        check((0.0, 1.0), 3.0, |rng| rng.normal());
        check((0.0, 1.0), 3.0, |rng| f64::from(rng.normal::<f32>()));
        check((0.0, 1.0), 3.0, |rng| rng.normal_pair().1);
    }

    #[test]
    fn the_numbers_of_a_normal_pair_are_independent() {
        // Their product has variance 1 and fourth moment 9.
        check((0.0, 1.0), 9.0, |rng| {
            let (x, y): (f64, f64) = rng.normal_pair();
            x * y
        });
    }

    #[test]
    fn moments_of_log_normal_numbers() {
        check((1.5, 0.0625), 3.0 * 0.0625 * 0.0625, |rng| rng.log_normal(1.5, 0.25_f64).ln());
    }

    #[test]
    fn moments_of_exponential_numbers() {
        check((0.25, 1.0 / 16.0), 9.0 / 256.0, |rng| rng.exponential(4.0));
        check((0.25, 1.0 / 16.0), 9.0 / 256.0, |rng| f64::from(rng.exponential(4.0_f32)));
    }
}
