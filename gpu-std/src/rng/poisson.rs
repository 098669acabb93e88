//! The Poisson distribution: Knuth's method for small means, Hörmann's transformed rejection for all others.

use super::{Generator, Real};
use crate::Float;

/// The largest mean for which every possible result is exact in f64.
const LARGEST_MEAN: f64 = (1_u64 << 52) as f64;

/// The mean from which on Hörmann's constants are valid and Knuth's method takes more draws.
const REJECTION_FROM: f64 = 10.0;

pub(super) fn poisson(rng: &mut impl Generator, mean: f64) -> u64 {
    assert!((0.0..=LARGEST_MEAN).contains(&mean), "the mean of a Poisson distribution is between 0 and 2^52");
    if mean < REJECTION_FROM { by_product(rng, mean) } else { by_rejection(rng, mean) }
}

/// Knuth, "Seminumerical Algorithms", 3.4.1: counts arrivals within a unit of time, with exponentially distributed times between them.
fn by_product(rng: &mut impl Generator, mean: f64) -> u64 {
    let limit = Float::exp(-mean);
    let mut product: f64 = Real::uniform(rng);
    let mut count = 0;
    while product > limit {
        product *= <f64 as Real>::uniform(rng);
        count += 1;
    }
    count
}

/// Hörmann, "The transformed rejection method for generating Poisson random variables", 1993, algorithm PTRS.
fn by_rejection(rng: &mut impl Generator, mean: f64) -> u64 {
    let b = 0.931 + 2.53 * Float::sqrt(mean);
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let surely_below = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let u = <f64 as Real>::uniform(rng) - 0.5;
        let v: f64 = Real::uniform(rng);
        // 0 for u = -0.5, which makes the candidate minus infinity.
        let edge = 0.5 - u.abs();
        let candidate = Float::floor((2.0 * a / edge + b) * u + mean + 0.43);
        if edge >= 0.07 && v <= surely_below {
            return candidate as u64;
        }
        if candidate < 0.0 || (edge < 0.013 && v > edge) {
            continue;
        }
        let height = Float::ln(v * inverse_alpha / (a / (edge * edge) + b));
        if height <= ln_probability(candidate, mean) {
            return candidate as u64;
        }
    }
}

/// The logarithm of the probability of `count`, without the cancellation of `count * ln(mean) - mean - ln(count!)`, which leaves no
/// correct digit for large means. Loader, "Fast and Accurate Computation of Binomial Probabilities", 2000.
fn ln_probability(count: f64, mean: f64) -> f64 {
    if count < 16.0 {
        let mut factorial = 1.0;
        for factor in 2..=count as u32 {
            factorial *= f64::from(factor);
        }
        return count * Float::ln(mean) - mean - Float::ln(factorial);
    }
    // Stirling's series for the factorial; the next term is below 1e-15.
    let square = count * count;
    let correction =
        (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square) / count;
    -correction - deviance(count, mean) - 0.5 * Float::ln(core::f64::consts::TAU * count)
}

/// `count * ln(count / mean) + mean - count`, accurate also where the two are close.
fn deviance(count: f64, mean: f64) -> f64 {
    let (difference, sum) = (count - mean, count + mean);
    if difference.abs() >= 0.1 * sum {
        return count * Float::ln(count / mean) - difference;
    }
    let ratio = difference / sum;
    let mut total = difference * ratio;
    let mut power = 2.0 * count * ratio;
    let mut odd = 3.0;
    // The ratio is below 0.1, so that each power is less than a hundredth of the one before.
    loop {
        power *= ratio * ratio;
        let next = total + power / odd;
        if next == total {
            return total;
        }
        total = next;
        odd += 2.0;
    }
}

#[cfg(test)]
mod tests {
    use std::{vec, vec::Vec};

    use super::{deviance, ln_probability, poisson};
    use crate::rng::{Philox4x32, Xoshiro256PlusPlus};

    #[test]
    fn probabilities_add_up_to_1() {
        for mean in [10.0, 12.5, 100.0, 12_345.0] {
            let total: f64 = (0..30_000).map(|count| ln_probability(f64::from(count), mean).exp()).sum();
            assert!((total - 1.0).abs() < 1e-11, "{mean}: {total}");
        }
    }

    #[test]
    fn the_deviance_keeps_its_digits_where_it_is_small() {
        let (count, mean) = (1e15 + 1e7, 1e15);
        // d²/2m − d³/6m² + …, d the difference.
        let expected = 1e14 / 2e15 - 1e21 / 6e30;
        assert!((deviance(count, mean) - expected).abs() < 1e-14 * expected);
        assert_eq!(deviance(20.0, 20.0), 0.0);
    }

    /// Pearson's chi-squared test of counts against probabilities.
    fn check_distribution(mean: f64) {
        const COUNT: usize = 100_000;
        let mut rng = Xoshiro256PlusPlus::new(mean.to_bits());
        let (first, last) =
            ((mean - 4.0 * mean.sqrt()).max(0.0) as usize, (mean + 4.0 * mean.sqrt()) as usize + 2);
        let mut counts = vec![0_u32; last - first + 1];
        for _ in 0..COUNT {
            let bin = (poisson(&mut rng, mean) as usize).clamp(first, last) - first;
            counts[bin] += 1;
        }
        let probability = |count: usize| {
            let ln_factorial: f64 = (2..=count).map(|factor| (factor as f64).ln()).sum();
            (count as f64 * mean.ln() - mean - ln_factorial).exp()
        };
        let mut chi_squared = 0.0;
        let mut bins = 0.0;
        // The outermost bins hold all counts beyond them, which are few: left out.
        let inner: Vec<_> =
            (first + 1..last).filter(|&count| probability(count) * COUNT as f64 >= 10.0).collect();
        for count in inner {
            let expected = probability(count) * COUNT as f64;
            chi_squared += (f64::from(counts[count - first]) - expected).powi(2) / expected;
            bins += 1.0;
        }
        assert!(chi_squared < bins + 5.0 * (2.0_f64 * bins).sqrt(), "{mean}: {chi_squared} for {bins} bins");
    }

    #[test]
    fn numbers_have_the_distribution_for_small_means() {
        [0.1, 1.0, 5.5, 9.99].into_iter().for_each(check_distribution);
    }

    #[test]
    fn numbers_have_the_distribution_for_large_means() {
        [10.0, 10.5, 30.0, 250.0, 4000.0].into_iter().for_each(check_distribution);
    }

    #[test]
    fn huge_means_have_the_right_spread() {
        let mut rng = Philox4x32::new(4);
        let mean = (1_u64 << 52) as f64;
        let deviations: Vec<f64> =
            (0..20_000).map(|_| (poisson(&mut rng, mean) as f64 - mean) / mean.sqrt()).collect();
        let average = deviations.iter().sum::<f64>() / 20_000.0;
        let variance = deviations.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        assert!(average.abs() < 0.036 && (variance - 1.0).abs() < 0.05, "{average} {variance}");
    }

    #[test]
    fn a_mean_of_0_gives_0() {
        let mut rng = Philox4x32::new(4);
        assert!((0..100).all(|_| poisson(&mut rng, 0.0) == 0));
    }

    #[test]
    #[should_panic(expected = "between 0 and 2^52")]
    fn no_number_as_mean_is_refused() {
        poisson(&mut Philox4x32::new(4), f64::NAN);
    }

    #[test]
    #[should_panic(expected = "between 0 and 2^52")]
    fn a_negative_mean_is_refused() {
        poisson(&mut Philox4x32::new(4), -1.0);
    }
}
