//! What a run found, as it is written to `report.json` and shown in other forms.

pub(crate) mod csv;
pub(crate) mod format;
pub(crate) mod history;
pub(crate) mod page;
pub(crate) mod summary;
pub(crate) mod table;

use serde::{Deserialize, Serialize};

pub(crate) use summary::RatioSummary;

/// The version of this format.
pub(crate) const FORMAT: u32 = 1;

/// All that a run of a bench target found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) format: u32,
    /// The bench target.
    pub(crate) target: String,
    /// The time at the start, RFC 3339.
    pub(crate) started: String,
    /// The commit, with `-dirty` behind it if files were changed.
    pub(crate) commit: Option<String>,
    /// The operating system's name of the machine's processor, and the number of its threads.
    pub(crate) processor: String,
    pub(crate) processor_threads: usize,
    pub(crate) devices: Vec<DeviceFacts>,
    /// The baseline that rows are compared with.
    pub(crate) baseline: Option<BaselineFacts>,
    /// How far a time may be from the baseline's and be called the same: 0.02 for 2 %.
    pub(crate) noise_threshold: f64,
    pub(crate) rows: Vec<Row>,
    /// The ratios of several rows as one number.
    pub(crate) ratios: Vec<RatioSummary>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) failures: Vec<Failure>,
    /// Ratios above what the program allows.
    pub(crate) above_limits: Vec<AboveLimit>,
}

/// A device that was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DeviceFacts {
    /// `gpu:0` or `cpu`.
    pub(crate) id: String,
    pub(crate) name: String,
    /// Such as `sm_90`.
    pub(crate) arch: Option<String>,
    pub(crate) multiprocessors: u32,
    pub(crate) last_level_cache_bytes: usize,
    /// The version of the driver.
    pub(crate) driver: Option<String>,
    /// Clock frequencies at the start.
    pub(crate) clocks: Option<Clocks>,
    /// The power limit in watts.
    pub(crate) power_limit_w: Option<f64>,
    /// What it does at most, measured at the start.
    pub(crate) peaks: Option<Peaks>,
}

/// Clock frequencies in MHz.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Clocks {
    pub(crate) sm_mhz: u32,
    pub(crate) max_sm_mhz: u32,
    pub(crate) memory_mhz: u32,
}

/// What a device does at most per second.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Peaks {
    /// Bytes read and written.
    pub(crate) bytes: f64,
    /// Floating-point operations of `f32`, of which a fused multiply-add is two.
    pub(crate) f32_flops: f64,
    /// The same of `f64`.
    pub(crate) f64_flops: f64,
}

/// A baseline.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BaselineFacts {
    pub(crate) name: String,
    pub(crate) started: String,
    pub(crate) commit: Option<String>,
}

/// A benchmark with a value for each axis, on a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// The path of the function in its crate.
    pub(crate) benchmark: String,
    pub(crate) axes: Vec<AxisValue>,
    /// The id of the device of the row; a provider may have another.
    pub(crate) device: String,
    /// What one launch handles.
    pub(crate) work: Work,
    pub(crate) providers: Vec<ProviderResult>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AxisValue {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// What one launch handles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    pub(crate) elements: Option<u64>,
    /// Bytes read and written.
    pub(crate) bytes: Option<u64>,
    /// Floating-point operations of `f32`.
    pub(crate) f32_flops: Option<u64>,
    /// Floating-point operations of `f64`.
    pub(crate) f64_flops: Option<u64>,
}

/// What one way of doing it took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProviderResult {
    pub(crate) name: String,
    /// The id of its device.
    pub(crate) device: String,
    /// The kernels of one launch.
    pub(crate) kernels: Vec<KernelFacts>,
    /// With what its result was compared.
    pub(crate) checked: Checked,
    pub(crate) modes: Vec<ModeResult>,
    /// Why the mode `replay` is missing, where it could have been.
    #[serde(default)]
    pub(crate) not_replayed: Option<String>,
}

/// With what a result was compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Checked {
    /// With values that the program gave; the largest difference.
    Values { difference: f64 },
    /// With the result of a provider; the largest difference.
    Provider { name: String, difference: f64 },
    /// It is what others are compared with.
    IsReference,
    /// With nothing, for this reason.
    Unchecked { reason: String },
}

/// A launched kernel and what the compiler made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KernelFacts {
    pub(crate) name: String,
    pub(crate) grid_dim: [u32; 3],
    pub(crate) block_dim: [u32; 3],
    /// How many launches of it like this one there were.
    pub(crate) launches: usize,
    /// Shared memory per block that the launch added.
    pub(crate) dynamic_shared_bytes: u32,
    /// On a GPU.
    pub(crate) resources: Option<Resources>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Resources {
    pub(crate) registers: u32,
    pub(crate) local_bytes: u32,
    pub(crate) shared_bytes: u32,
    pub(crate) blocks_per_multiprocessor: u32,
    /// Warps that are resident on a multiprocessor, of those that it has room for.
    pub(crate) occupancy: Option<f64>,
}

/// Times of a provider in a mode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ModeResult {
    /// `cold`, `batch`, `replay` or `host`.
    pub(crate) mode: String,
    /// Launches between two events, of whose time a sample is the mean.
    pub(crate) launches_per_sample: u32,
    /// Time of the device per launch, in nanoseconds, in the order of measurement; in the mode `host` that of the host.
    pub(crate) samples_ns: Vec<f64>,
    /// Time of the host per launch, in nanoseconds: until the call that launches returns.
    pub(crate) host_samples_ns: Vec<f64>,
    /// The median of the device's time, with its confidence interval, by bootstrap.
    pub(crate) time_ns: Interval,
    /// The median of the host's time.
    pub(crate) host_ns: f64,
    /// Half the width of the confidence interval of the median, as a share of it.
    pub(crate) noise: f64,
    /// Whether the noise came below what was asked before the time was up.
    pub(crate) converged: bool,
    /// Why the device ran slower than it can.
    pub(crate) throttled: Vec<String>,
    /// The median of the multiprocessors' clock frequency.
    pub(crate) sm_mhz: Option<u32>,
    /// The time as a ratio to another provider's, of neighbouring samples.
    pub(crate) ratio: Option<Ratio>,
    /// The change since the baseline.
    pub(crate) change: Option<Change>,
}

/// An estimate with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) middle: f64,
    pub(crate) high: f64,
}

/// A time as a ratio to another provider's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ratio {
    pub(crate) to: String,
    pub(crate) value: Interval,
}

/// A change since the baseline: 0.05 for 5 % slower.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) value: Interval,
    pub(crate) verdict: Verdict,
}

/// What a change means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Faster,
    Slower,
    Same,
    /// The interval reaches from one of these to another.
    Unclear,
}

impl Verdict {
    /// What an interval of changes means, if those up to a threshold are noise.
    pub(crate) fn of(change: Interval, threshold: f64) -> Self {
        match change {
            change if change.low > threshold => Self::Slower,
            change if change.high < -threshold => Self::Faster,
            change if change.low >= -threshold && change.high <= threshold => Self::Same,
            _ => Self::Unclear,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::Unclear => "unclear",
        }
    }
}

/// A row that was not measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Skipped {
    pub(crate) row: String,
    pub(crate) reason: String,
}

/// A row that could not be measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) row: String,
    pub(crate) error: String,
}

/// A ratio above what the program allows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AboveLimit {
    pub(crate) row: String,
    pub(crate) provider: String,
    pub(crate) to: String,
    pub(crate) mode: String,
    pub(crate) ratio: f64,
    pub(crate) limit: f64,
    /// Why it is accepted, if it is.
    pub(crate) reason: Option<String>,
}

impl Row {
    /// The name of the row: benchmark, axes and device.
    pub(crate) fn name(&self) -> String {
        row_name(&self.benchmark, &self.axes, &self.device)
    }
}

/// `saxpy elements=65536 (gpu:0)`
pub(crate) fn row_name(benchmark: &str, axes: &[AxisValue], device: &str) -> String {
    let axes: String = axes.iter().map(|axis| format!(" {}={}", axis.name, axis.value)).collect();
    format!("{benchmark}{axes} ({device})")
}

impl Report {
    pub(crate) fn device(&self, id: &str) -> Option<&DeviceFacts> {
        self.devices.iter().find(|device| device.id == id)
    }

    /// Rows, providers and modes that are slower than the baseline.
    pub(crate) fn regressions(&self) -> impl Iterator<Item = (&Row, &ProviderResult, &ModeResult)> {
        let modes = self.rows.iter().flat_map(|row| {
            row.providers
                .iter()
                .flat_map(move |provider| provider.modes.iter().map(move |mode| (row, provider, mode)))
        });
        modes.filter(|(_, _, mode)| {
            mode.change.as_ref().is_some_and(|change| change.verdict == Verdict::Slower)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_beyond_the_threshold_is_a_change() {
        let of = |low, high| Verdict::of(Interval { low, middle: (low + high) / 2.0, high }, 0.02);
        assert_eq!(of(0.021, 0.09), Verdict::Slower);
        assert_eq!(of(-0.09, -0.021), Verdict::Faster);
        assert_eq!(of(-0.02, 0.02), Verdict::Same);
        assert_eq!(of(0.01, 0.03), Verdict::Unclear);
        assert_eq!(of(-0.03, 0.01), Verdict::Unclear);
        assert_eq!(of(-0.5, 0.5), Verdict::Unclear);
    }
}
