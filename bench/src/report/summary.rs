//! Ratios of many rows as one number: how one way of computing compares with another, over all that both compute.

use serde::{Deserialize, Serialize};

use super::Row;

/// The ratios of a provider's times to those of the first provider, over all rows of a device that have both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RatioSummary {
    pub(crate) provider: String,
    /// The first provider of the rows.
    pub(crate) to: String,
    pub(crate) mode: String,
    /// The id of the rows' device.
    pub(crate) device: String,
    /// The number of rows, at least two.
    pub(crate) rows: usize,
    pub(crate) geometric_mean: f64,
    pub(crate) largest: f64,
    /// The row that has the largest.
    pub(crate) largest_row: String,
}

/// Summarises the ratios of rows, in the order in which they come.
pub(crate) fn summaries(rows: &[Row]) -> Vec<RatioSummary> {
    let mut summaries: Vec<RatioSummary> = Vec::new();
    for row in rows {
        for provider in &row.providers {
            for mode in &provider.modes {
                let Some(ratio) = &mode.ratio else { continue };
                let next = RatioSummary {
                    provider: provider.name.clone(),
                    to: ratio.to.clone(),
                    mode: mode.mode.clone(),
                    device: row.device.clone(),
                    rows: 1,
                    // The sum of logarithms until all are there.
                    geometric_mean: ratio.value.middle.ln(),
                    largest: ratio.value.middle,
                    largest_row: row.name(),
                };
                match summaries.iter_mut().find(|summary| summary.key() == next.key()) {
                    Some(summary) => summary.add(next),
                    None => summaries.push(next),
                }
            }
        }
    }
    // One row says it itself.
    summaries.retain(|summary| summary.rows > 1);
    for summary in &mut summaries {
        summary.geometric_mean = (summary.geometric_mean / summary.rows as f64).exp();
    }
    summaries
}

impl RatioSummary {
    fn key(&self) -> (&str, &str, &str, &str) {
        (&self.provider, &self.to, &self.mode, &self.device)
    }

    fn add(&mut self, next: Self) {
        self.rows += next.rows;
        self.geometric_mean += next.geometric_mean;
        if next.largest > self.largest {
            (self.largest, self.largest_row) = (next.largest, next.largest_row);
        }
    }
}

/// A line for each provider that others are compared with, mode and device.
pub(crate) fn lines(summaries: &[RatioSummary]) -> Vec<String> {
    let head = |summary: &RatioSummary| {
        let RatioSummary { to, mode, device, .. } = summary;
        format!("ratios to `{to}`, {mode} ({device}): ")
    };
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for summary in summaries {
        let RatioSummary { provider, rows, geometric_mean, largest, largest_row, .. } = summary;
        // The device of the row is that of the line.
        let row = largest_row.strip_suffix(&format!(" ({})", summary.device)).unwrap_or(largest_row);
        let text = format!("{provider} {geometric_mean:.3} ({rows} rows, largest {largest:.3}: {row})");
        let head = head(summary);
        match lines.iter_mut().find(|(known, _)| *known == head) {
            Some((_, texts)) => texts.push(text),
            None => lines.push((head, vec![text])),
        }
    }
    lines.into_iter().map(|(head, texts)| head + &texts.join("; ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Checked, Interval, ModeResult, ProviderResult, Ratio, Work};

    /// A row whose first provider is `nvcc`, and others with their ratios to it.
    fn row(benchmark: &str, device: &str, others: &[(&str, f64)]) -> Row {
        let provider = |name: &str, ratio: Option<f64>| {
            let interval = |middle| Interval { low: middle, middle, high: middle };
            let mode = |mode: &str| ModeResult {
                mode: mode.to_owned(),
                launches_per_sample: 1,
                samples_ns: Vec::new(),
                host_samples_ns: Vec::new(),
                time_ns: interval(1.0),
                host_ns: 1.0,
                noise: 0.0,
                converged: true,
                throttled: Vec::new(),
                sm_mhz: None,
                ratio: ratio.map(|ratio| Ratio { to: "nvcc".to_owned(), value: interval(ratio) }),
                change: None,
            };
            ProviderResult {
                name: name.to_owned(),
                device: device.to_owned(),
                kernels: Vec::new(),
                checked: Checked::IsReference,
                modes: vec![mode("cold"), mode("batch")],
                not_replayed: None,
            }
        };
        let others = others.iter().map(|(name, ratio)| provider(name, Some(*ratio)));
        Row {
            benchmark: benchmark.to_owned(),
            axes: Vec::new(),
            device: device.to_owned(),
            work: Work::default(),
            providers: [provider("nvcc", None)].into_iter().chain(others).collect(),
        }
    }

    #[test]
    fn ratios_of_rows_that_have_both_become_a_geometric_mean() {
        let rows = [
            row("a", "gpu:0", &[("draft", 2.0), ("tuned", 1.0)]),
            row("b", "gpu:0", &[("draft", 0.5)]),
            row("c", "gpu:0", &[("draft", 8.0), ("tuned", 4.0)]),
        ];
        let found = summaries(&rows);
        let [draft, _, tuned, _] = &found[..] else { panic!("{found:?}") };
        assert!((draft.geometric_mean - 2.0).abs() < 1e-12 && (tuned.geometric_mean - 2.0).abs() < 1e-12);
        assert_eq!((draft.rows, draft.largest, draft.largest_row.as_str()), (3, 8.0, "c (gpu:0)"));
        assert_eq!(
            lines(&found),
            ["cold", "batch"].map(|mode| format!(
                "ratios to `nvcc`, {mode} (gpu:0): draft 2.000 (3 rows, largest 8.000: c); tuned 2.000 (2 rows, largest 4.000: c)"
            ))
        );
    }

    #[test]
    fn devices_are_kept_apart_and_single_rows_are_not_repeated() {
        let rows = [row("a", "gpu:0", &[("draft", 1.0)]), row("a", "cpu", &[("draft", 3.0)])];
        assert_eq!(summaries(&rows), []);
        let rows = [&rows[..], &[row("b", "cpu", &[("draft", 3.0)])]].concat();
        let found = summaries(&rows);
        assert!(found.iter().all(|summary| summary.device == "cpu" && summary.rows == 2), "{found:?}");
        assert_eq!(found.len(), 2);
    }
}
