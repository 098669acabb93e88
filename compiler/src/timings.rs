//! Durations of the steps of a build.

use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

/// The steps of a build with their durations, in order.
///
/// ```
/// let mut timings = gpukernel_build::Timings::default();
/// timings.step("think", || 6 * 7);
/// assert_eq!(timings.steps().next().unwrap().0, "think");
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Timings {
    steps: Vec<(Cow<'static, str>, Duration)>,
}

impl Timings {
    /// Runs `action` and records its duration as a step.
    pub fn step<T>(&mut self, name: &'static str, action: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = action();
        self.steps.push((name.into(), start.elapsed()));
        result
    }

    /// The steps and their durations, in order.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = (&str, Duration)> + '_ {
        self.steps.iter().map(|(name, duration)| (name.as_ref(), *duration))
    }

    /// Appends the steps of another measurement.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.steps.append(&mut other.steps);
    }

    /// The total duration.
    pub fn total(&self) -> Duration {
        self.steps.iter().map(|(_, duration)| duration).sum()
    }
}
