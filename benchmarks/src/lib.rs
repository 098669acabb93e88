//! Measuring two ways of doing the same side by side.

use std::time::Duration;

/// One way of doing something: returns how long it took.
pub type Way<'a> = Box<dyn FnMut() -> Result<Duration, gpukernel::Error> + 'a>;

/// What two ways of doing the same took.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Median of ours.
    pub ours: Duration,
    /// Median of theirs.
    pub theirs: Duration,
    /// Median of the ratios ours / theirs of neighbouring runs: what disturbs one disturbs the other.
    pub ratio: f64,
    /// Half of the ratios lie within this distance of the median.
    pub spread: f64,
}

/// Runs both in turn, `rounds` times after two rounds to warm up.
///
/// # Errors
/// What a run returns.
pub fn compare(
    mut ours: Way<'_>,
    mut theirs: Way<'_>,
    rounds: usize,
) -> Result<Comparison, gpukernel::Error> {
    for _ in 0..2 {
        ours()?;
        theirs()?;
    }
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        our_times.push(ours()?.as_secs_f64());
        their_times.push(theirs()?.as_secs_f64());
    }
    let ratios: Vec<_> = our_times.iter().zip(&their_times).map(|(ours, theirs)| ours / theirs).collect();
    let ratio = median(&ratios);
    Ok(Comparison {
        ours: Duration::from_secs_f64(median(&our_times)),
        theirs: Duration::from_secs_f64(median(&their_times)),
        ratio,
        spread: median(&ratios.iter().map(|other| (other - ratio).abs()).collect::<Vec<_>>()),
    })
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// Prints one comparison as a row of a Markdown table; without one, the head of the table.
pub fn print_row(name: &str, theirs: &str, comparison: Option<&Comparison>) {
    match comparison {
        None => println!("| {name} | ours | {theirs} | ours / {theirs} |\n| --- | --- | --- | --- |"),
        Some(Comparison { ours, theirs, ratio, spread }) => {
            println!("| {name} | {ours:.2?} | {theirs:.2?} | {ratio:.3} ± {spread:.3} |");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_is_the_median_of_neighbours() {
        let mut runs = [2.0, 4.0, 6.0, 2.0, 2.0].into_iter().map(Duration::from_secs_f64);
        let ours: Way<'_> = Box::new(move || Ok(runs.next().unwrap_or_default()));
        let theirs: Way<'_> = Box::new(|| Ok(Duration::from_secs(2)));
        // The first two of each warm up.
        let comparison = compare(ours, theirs, 3).unwrap();
        assert_eq!(comparison.ratio, 1.0);
        assert_eq!(comparison.ours, Duration::from_secs(2));
    }
}
