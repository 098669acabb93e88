//! Times by events, and what is printed.

use std::time::Duration;

use gpukernel::{Device, Module, Stream};

use crate::{Result, cub::Cub};

/// What all measurements share.
pub(crate) struct Session {
    pub(crate) device: Device,
    pub(crate) stream: Stream,
    pub(crate) module: Module,
    pub(crate) cub: Option<Cub>,
    /// Only shapes are run whose names have this.
    pub(crate) only: String,
}

impl Session {
    /// Runs something once to warm up and nine times to time it; the median.
    pub(crate) fn time(&self, mut run: impl FnMut() -> Result) -> Result<Duration> {
        run()?;
        let mut times = Vec::new();
        for _ in 0..if self.device.is_gpu() { 9 } else { 1 } {
            let start = self.stream.record()?;
            run()?;
            let end = self.stream.record()?;
            end.synchronize()?;
            times.push(end.elapsed_since(&start)?);
        }
        times.sort();
        Ok(times[times.len() / 2])
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    /// Prints a row: the time, bytes per second, the ratio to CUB's time, and whether the result is right.
    pub(crate) fn row(
        &self,
        name: &str,
        bytes: usize,
        time: Duration,
        cub: Option<Duration>,
        is_right: Option<bool>,
    ) {
        let seconds = time.as_secs_f64();
        let ratio = cub.map_or(String::new(), |cub| format!("{:.3}", seconds / cub.as_secs_f64()));
        let verdict = match is_right {
            None => "",
            Some(true) => "right",
            Some(false) => "WRONG",
        };
        println!(
            "{name:32} {:>10.1} us {:>8.1} GB/s {ratio:>6} {verdict}",
            1e6 * seconds,
            1e-9 * bytes as f64 / seconds
        );
    }
}
