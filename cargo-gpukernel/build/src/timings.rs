//! How long each step of a build took.

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
    /// Does something and notes how long it took.
    pub fn step<T>(&mut self, name: &'static str, action: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = action();
        self.steps.push((name.into(), start.elapsed()));
        result
    }

    /// The steps, in order.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = (&str, Duration)> + '_ {
        self.steps.iter().map(|(name, duration)| (name.as_ref(), *duration))
    }

    /// Adds the steps of another, which were done in between.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.steps.append(&mut other.steps);
    }

    /// All steps together.
    pub fn total(&self) -> Duration {
        self.steps.iter().map(|(_, duration)| duration).sum()
    }
}
