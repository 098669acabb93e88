//! Registered benchmarks, and what their functions are given.

use gpukernel::Device;

use crate::{
    BoxError, Error, Measurement,
    axis::{Axis, Values},
    report::{ProviderResult, Work},
    run::Session,
};

/// A registered benchmark: written by `#[bench]`.
#[derive(Debug)]
pub struct Benchmark {
    /// The function's name.
    pub name: &'static str,
    /// Its module.
    pub module: &'static str,
    /// Its parameters.
    pub axes: &'static [Axis],
    /// Calls it with the values of a row.
    pub run: fn(&mut Bench<'_>, &Values) -> Result<(), BoxError>,
}

inventory::collect!(Benchmark);

impl Benchmark {
    /// The path in its crate.
    pub(crate) fn path(&self) -> String {
        match self.module.split_once("::") {
            Some((_, inside)) => format!("{inside}::{}", self.name),
            None => self.name.to_owned(),
        }
    }
}

/// One row: a benchmark with a value for each axis, on a device.
pub struct Bench<'s> {
    device: Device,
    session: &'s Session,
    outcome: Option<RowOutcome>,
}

/// What became of a row.
pub(crate) enum RowOutcome {
    Measured(Measured),
    Skipped(String),
}

/// What a measurement found.
pub(crate) struct Measured {
    pub(crate) work: Work,
    pub(crate) providers: Vec<ProviderResult>,
    /// What ratios may be at most.
    pub(crate) limits: Vec<Limit>,
}

/// What the ratio of two providers' times may be at most.
pub(crate) struct Limit {
    pub(crate) provider: String,
    pub(crate) to: String,
    pub(crate) ratio: f64,
    pub(crate) reason: Option<String>,
}

impl<'s> Bench<'s> {
    pub(crate) fn new(device: Device, session: &'s Session) -> Self {
        Self { device, session, outcome: None }
    }

    pub(crate) fn into_outcome(self) -> Result<RowOutcome, Error> {
        self.outcome.ok_or(Error::NothingMeasured)
    }

    pub(crate) fn set_outcome(&mut self, outcome: RowOutcome) -> Result<(), Error> {
        match self.outcome {
            Some(_) => Err(Error::MeasuredTwice),
            None => {
                self.outcome = Some(outcome);
                Ok(())
            }
        }
    }

    pub(crate) fn session(&self) -> &'s Session {
        self.session
    }

    /// The device to measure on.
    pub fn device(&self) -> Device {
        self.device.clone()
    }

    /// Describes what is measured, and measures it with [`run`](Measurement::run).
    pub fn measure<'b, V>(&'b mut self) -> Measurement<'b, 's, V> {
        Measurement::new(self)
    }

    /// Says why this row is not measured; the report lists it.
    pub fn skip(&mut self, reason: impl Into<String>) {
        if self.outcome.is_none() {
            self.outcome = Some(RowOutcome::Skipped(reason.into()));
        }
    }
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("device", &self.device).finish_non_exhaustive()
    }
}
