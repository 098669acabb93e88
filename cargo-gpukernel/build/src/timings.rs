//! How long each step of a build took.

use std::time::{Duration, Instant};

/// The steps of a build with their durations, in order.
///
/// ```
/// let mut timings = gpukernel_build::Timings::default();
/// timings.step("think", || 6 * 7);
/// assert_eq!(timings.steps().next().unwrap().0, "think");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Timings {
    steps: Vec<(&'static str, Duration)>,
}

impl Timings {
    /// Does something and notes how long it took.
    pub fn step<T>(&mut self, name: &'static str, action: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = action();
        self.steps.push((name, start.elapsed()));
        result
    }

    /// The steps, in order.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = (&'static str, Duration)> + '_ {
        self.steps.iter().copied()
    }

    /// All steps together.
    pub fn total(&self) -> Duration {
        self.steps.iter().map(|(_, duration)| duration).sum()
    }
}
