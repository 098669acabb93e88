//! Order statistics: medians, and how well they are known. What a report says comes from criterion's bootstrap; this decides when to stop.

use crate::report::Interval;

/// The median; NaN of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

/// The median with its 95 % confidence interval: between order statistics, which by the binomial distribution lie 0.98·√n away from the
/// middle, whatever the values are distributed like.
pub(crate) fn median_interval(values: &[f64]) -> Interval {
    let sorted = sorted(values);
    let away = (0.98 * (sorted.len() as f64).sqrt()).ceil() as usize;
    let low = (sorted.len() / 2).saturating_sub(away);
    match sorted.len() {
        0 => Interval { low: f64::NAN, middle: f64::NAN, high: f64::NAN },
        count => Interval { low: sorted[low], middle: median(&sorted), high: sorted[count - 1 - low] },
    }
}

/// Half the width of the median's confidence interval, as a share of it.
pub(crate) fn noise(values: &[f64]) -> f64 {
    let Interval { low, middle, high } = median_interval(values);
    (high - low) / 2.0 / middle
}

/// The ratios of neighbouring values: what disturbs one disturbs the other.
pub(crate) fn ratios(times: &[f64], to: &[f64]) -> Vec<f64> {
    times.iter().zip(to).map(|(time, to)| time / to).collect()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_covers_what_order_statistics_do() {
        let values: Vec<f64> = (0..101).map(f64::from).collect();
        assert_eq!(median_interval(&values), Interval { low: 40.0, middle: 50.0, high: 60.0 });
        assert_eq!(noise(&[1.0; 50]), 0.0);
        assert_eq!(median(&[1.0, 2.0, 4.0, 3.0]), 2.5);
    }

    #[test]
    fn nothing_has_no_median() {
        assert!(median(&[]).is_nan() && noise(&[]).is_nan());
    }
}
