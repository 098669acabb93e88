//! Measuring two ways of doing the same side by side.

pub mod molecules;

use std::time::{Duration, Instant};

/// One way of doing something: returns how long it took.
pub type TimedRun<'a> = Box<dyn FnMut() -> Result<Duration, gpukernel::Error> + 'a>;

/// What two ways of doing the same took.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Median of ours.
    pub ours: Duration,
    /// Median of theirs.
    pub theirs: Duration,
    /// Median of the ratios ours / theirs of neighbouring runs: what disturbs one disturbs the other.
    pub ratio: f64,
    /// Half the width of the 95 % confidence interval of that median.
    pub error: f64,
    /// How many runs of each there were.
    pub rounds: usize,
}

/// Fewer rounds have no confidence interval worth the name.
const MIN_ROUNDS: usize = 21;
const MAX_ROUNDS: usize = 1001;
/// Measuring ends when the error of the ratio is below this.
const ENOUGH: f64 = 0.002;
/// Or after so much time.
const MAX_TIME: Duration = Duration::from_secs(4);

/// Runs both in pairs, after two pairs to warm up, until the ratio is known to 0.2 %, for 4 seconds or 1001 pairs at most. In every other
/// pair the second runs first, so that what a run leaves behind (caches, clocks, temperature) meets both alike.
///
/// # Errors
/// What a run returns.
pub fn compare(mut ours: TimedRun<'_>, mut theirs: TimedRun<'_>) -> Result<Comparison, gpukernel::Error> {
    for _ in 0..2 {
        ours()?;
        theirs()?;
    }
    let start = Instant::now();
    let (mut our_times, mut their_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let (our_time, their_time) = if ratios.len() % 2 == 0 {
            let our_time = ours()?;
            (our_time, theirs()?)
        } else {
            let their_time = theirs()?;
            (ours()?, their_time)
        };
        let (our_time, their_time) = (our_time.as_secs_f64(), their_time.as_secs_f64());
        our_times.push(our_time);
        their_times.push(their_time);
        ratios.push(our_time / their_time);
        let rounds = ratios.len();
        if rounds < MIN_ROUNDS {
            continue;
        }
        let error = error_of_median(&ratios);
        if error < ENOUGH || rounds >= MAX_ROUNDS || start.elapsed() > MAX_TIME {
            return Ok(Comparison {
                ours: Duration::from_secs_f64(median(&our_times)),
                theirs: Duration::from_secs_f64(median(&their_times)),
                ratio: median(&ratios),
                error,
                rounds,
            });
        }
    }
}

/// Half the distance between the order statistics that the median lies between in 95 % of all samples: by the binomial distribution,
/// those 0.98·√n away from the middle, whatever the values are distributed like.
fn error_of_median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let away = (0.98 * (count as f64).sqrt()).ceil() as usize;
    let low = (count / 2).saturating_sub(away);
    (sorted[count - 1 - low] - sorted[low]) / 2.0
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// Numbers that look random, from 0 to 1: the same each time.
pub fn noise(len: usize) -> Vec<f32> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(0x9e37_79b9), next)
        .skip(1)
        .map(|state| (state >> 8) as f32 / (1 << 24) as f32)
        .take(len)
        .collect()
}

/// Prints one comparison as a row of a Markdown table; without one, the head of the table.
pub fn print_row(name: &str, theirs: &str, comparison: Option<&Comparison>) {
    match comparison {
        None => {
            println!(
                "| {name} | ours | {theirs} | ours / {theirs} | pairs |\n| --- | --- | --- | --- | --- |"
            );
        }
        Some(Comparison { ours, theirs, ratio, error, rounds }) => {
            println!("| {name} | {ours:.2?} | {theirs:.2?} | {ratio:.3} ± {error:.3} | {rounds} |");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_is_the_median_of_neighbours() {
        let mut runs = [9.0, 9.0, 2.0, 4.0, 6.0].into_iter();
        let ours: TimedRun<'_> = Box::new(move || Ok(Duration::from_secs_f64(runs.next().unwrap_or(4.0))));
        let theirs: TimedRun<'_> = Box::new(|| Ok(Duration::from_secs(2)));
        // The first two of each warm up.
        let comparison = compare(ours, theirs).unwrap();
        assert_eq!((comparison.ratio, comparison.error), (2.0, 0.0));
        assert_eq!((comparison.ours, comparison.rounds), (Duration::from_secs(4), MIN_ROUNDS));
    }

    /// Ours always first would measure what theirs left behind.
    #[test]
    fn each_runs_first_in_every_other_pair() {
        let order = std::cell::RefCell::new(String::new());
        let way = |name: char| -> TimedRun<'_> {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(name);
                Ok(Duration::from_secs(1))
            })
        };
        compare(way('o'), way('t')).unwrap();
        assert!(order.borrow().starts_with("ototottootto"), "{}", order.borrow());
    }

    #[test]
    fn the_error_covers_what_order_statistics_do() {
        let values: Vec<f64> = (0..101).map(f64::from).collect();
        assert_eq!(error_of_median(&values), 10.0);
        assert_eq!(error_of_median(&[1.0; 50]), 0.0);
    }

    #[test]
    fn noise_is_measured_longer() {
        let mut slow = false;
        let ours: TimedRun<'_> = Box::new(move || {
            slow = !slow;
            Ok(Duration::from_millis(if slow { 3 } else { 1 }))
        });
        let theirs: TimedRun<'_> = Box::new(|| Ok(Duration::from_millis(1)));
        assert_eq!(compare(ours, theirs).unwrap().rounds, MAX_ROUNDS);
    }
}
