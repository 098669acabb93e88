//! Sampling: providers take turns until the noise is low enough.

use std::time::{Duration, Instant};

use crate::{BoxError, stats};

/// When sampling ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// Half the width of the median's 95 % confidence interval, as a share of it, that is low enough.
    pub(crate) noise: f64,
    pub(crate) min_samples: usize,
    pub(crate) max_samples: usize,
    /// For all providers together.
    pub(crate) max_time: Duration,
}

/// What a sample took per launch, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) device_ns: f64,
    pub(crate) host_ns: f64,
}

/// The samples of each provider, as many of each.
#[derive(Debug)]
pub(crate) struct Samples {
    pub(crate) by_provider: Vec<Vec<Sample>>,
    /// Whether the time of each, and its ratio to the first one's, is known well enough.
    pub(crate) converged: Vec<bool>,
}

/// Takes samples in rounds of one for each provider, `take(provider)`. In every other round they come in the opposite order, so that what
/// one leaves behind (caches, clocks, temperature) meets all alike. `between` runs after each round.
///
/// # Errors
/// What a sample returns.
pub(crate) fn sample(
    providers: usize,
    stop: &Stop,
    mut take: impl FnMut(usize) -> Result<Sample, BoxError>,
    mut between: impl FnMut(),
) -> Result<Samples, BoxError> {
    let start = Instant::now();
    let mut by_provider = vec![Vec::new(); providers];
    for round in 1.. {
        let mut one = |provider: usize| take(provider).map(|sample| by_provider[provider].push(sample));
        match round % 2 {
            1 => (0..providers).try_for_each(&mut one)?,
            _ => (0..providers).rev().try_for_each(&mut one)?,
        }
        between();
        if round < stop.min_samples {
            continue;
        }
        // Sorting all samples after each is quadratic.
        let is_last = round >= stop.max_samples || start.elapsed() >= stop.max_time;
        if is_last || round % (round / 16).max(1) == 0 {
            let converged = converged(&by_provider, stop.noise);
            if is_last || converged.iter().all(|converged| *converged) {
                return Ok(Samples { by_provider, converged });
            }
        }
    }
    unreachable!("the number of samples is limited")
}

/// Whether the time of each, and its ratio to the first one's, is known well enough.
fn converged(by_provider: &[Vec<Sample>], noise: f64) -> Vec<bool> {
    let times = |samples: &[Sample]| samples.iter().map(|sample| sample.device_ns).collect::<Vec<_>>();
    let known = |values: &[f64]| stats::noise(values) <= noise;
    let first = by_provider.first().map(|samples| times(samples)).unwrap_or_default();
    let has_converged = |(provider, samples): (usize, &Vec<Sample>)| {
        let times = times(samples);
        known(&times) && (provider == 0 || known(&stats::ratios(&times, &first)))
    };
    by_provider.iter().enumerate().map(has_converged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: Stop =
        Stop { noise: 0.01, min_samples: 21, max_samples: 100, max_time: Duration::from_secs(3600) };

    fn of(device_ns: f64) -> Sample {
        Sample { device_ns, host_ns: 1.0 }
    }

    /// One that always comes first would not measure what others leave behind.
    #[test]
    fn each_provider_comes_first_in_every_other_round() {
        let mut order = String::new();
        let take = |provider: usize| {
            order.push(['a', 'b', 'c'][provider]);
            Ok(of(1.0))
        };
        let samples = sample(3, &STOP, take, || ()).unwrap();
        assert_eq!(samples.converged, [true; 3]);
        assert_eq!(samples.by_provider.iter().map(Vec::len).collect::<Vec<_>>(), [21; 3]);
        assert!(order.starts_with("abccbaabccba"), "{order}");
    }

    #[test]
    fn noise_is_measured_longer_and_told() {
        let mut slow = false;
        let take = |_| {
            slow = !slow;
            Ok(of(if slow { 3.0 } else { 1.0 }))
        };
        let samples = sample(1, &STOP, take, || ()).unwrap();
        assert_eq!(samples.converged, [false]);
        assert_eq!(samples.by_provider[0].len(), 100);
    }

    /// Each time is known, but while one is at its slower, the other is at its faster half of the time.
    #[test]
    fn ratios_have_to_be_known_as_well() {
        let mut by_provider = vec![Vec::new(), Vec::new()];
        for round in 0..21_u32 {
            let wave = if round % 2 == 0 { 0.004 } else { -0.004 };
            by_provider[0].push(of(1.0 + wave));
            by_provider[1].push(of(1.0 - wave));
        }
        assert_eq!([converged(&by_provider[..1], 0.005), converged(&by_provider[1..], 0.005)], [[true]; 2]);
        assert_eq!(converged(&by_provider, 0.005), [true, false]);
    }

    #[test]
    fn the_time_ends_it() {
        let mut slow = false;
        let take = |_| {
            slow = !slow;
            Ok(of(if slow { 3.0 } else { 1.0 }))
        };
        let samples = sample(1, &Stop { max_time: Duration::ZERO, ..STOP }, take, || ()).unwrap();
        assert_eq!((samples.by_provider[0].len(), samples.converged), (21, vec![false]));
    }

    #[test]
    fn errors_end_it() {
        assert!(sample(1, &STOP, |_| Err("no".into()), || ()).is_err());
    }
}
