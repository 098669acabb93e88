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
/// assert_eq!(timings.steps().next().unwrap().name, "think");
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Timings {
    steps: Vec<Step>,
}

/// A step of a build: one of [`Timings::steps`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Step {
    /// The name of the step.
    pub name: Cow<'static, str>,
    /// The duration of the step.
    pub duration: Duration,
    /// The [linker's passes](crate::linker_passes) of the step with their durations. Those for one architecture have it in front of their names.
    /// Architectures are done in parallel, so that their passes may take longer together than the step.
    pub passes: Vec<(Cow<'static, str>, Duration)>,
}

impl Timings {
    /// Runs `action` and records its duration as a step.
    pub fn step<T>(&mut self, name: &'static str, action: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = action();
        self.push(name, start.elapsed(), Vec::new());
        result
    }

    /// The steps, in order.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &Step> + '_ {
        self.steps.iter()
    }

    /// Records a step with its passes.
    pub(crate) fn push(
        &mut self,
        name: &'static str,
        duration: Duration,
        passes: Vec<(Cow<'static, str>, Duration)>,
    ) {
        self.steps.push(Step { name: name.into(), duration, passes });
    }

    /// Appends the steps of another measurement.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.steps.append(&mut other.steps);
    }

    /// Adds the passes of another measurement to the last step, with a label in front of their names.
    pub(crate) fn add_passes(&mut self, label: &str, other: &Self) {
        if let Some(step) = self.steps.last_mut() {
            let passes = other.steps.iter().flat_map(|step| &step.passes);
            step.passes.extend(passes.map(|(name, duration)| (format!("{label} {name}").into(), *duration)));
        }
    }

    /// The total duration.
    pub fn total(&self) -> Duration {
        self.steps.iter().map(|step| step.duration).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_of_parallel_work_belong_to_the_last_step() {
        let second = Duration::from_secs(1);
        let (mut all, mut of_arch) = (Timings::default(), Timings::default());
        of_arch.push("emit", second, vec![("one".into(), second), ("two".into(), second)]);
        all.push("link", second, Vec::new());
        all.push("emit", second, Vec::new());
        all.add_passes("sm_80", &of_arch);
        let steps: Vec<_> = all.steps().collect();
        assert!(steps[0].passes.is_empty());
        let names: Vec<_> = steps[1].passes.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["sm_80 one", "sm_80 two"]);
        assert_eq!(all.total(), 2 * second);
    }
}
