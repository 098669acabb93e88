//! The report as comma-separated values: a line for each row, provider and mode (RFC 4180).

use super::{Checked, ModeResult, ProviderResult, Report, Row};

const TITLES: [&str; 27] = [
    "benchmark",
    "axes",
    "device",
    "device_name",
    "provider",
    "mode",
    "time_ns",
    "time_low_ns",
    "time_high_ns",
    "host_ns",
    "noise",
    "converged",
    "samples",
    "launches_per_sample",
    "elements",
    "bytes",
    "f32_flops",
    "f64_flops",
    "ratio_to",
    "ratio",
    "change",
    "verdict",
    "registers",
    "local_bytes",
    "occupancy",
    "throttled",
    "difference",
];

pub(crate) fn csv(report: &Report) -> String {
    let mut lines = vec![TITLES.join(",")];
    for row in &report.rows {
        for provider in &row.providers {
            lines.extend(provider.modes.iter().map(|mode| line(report, row, provider, mode)));
        }
    }
    lines.join("\n") + "\n"
}

fn line(report: &Report, row: &Row, provider: &ProviderResult, mode: &ModeResult) -> String {
    let axes: Vec<_> = row.axes.iter().map(|axis| format!("{}={}", axis.name, axis.value)).collect();
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let resources = provider.kernels.first().and_then(|kernel| kernel.resources);
    let difference = match provider.checked {
        Checked::Values { difference } | Checked::Provider { difference, .. } => difference.to_string(),
        Checked::IsReference | Checked::Unchecked { .. } => String::new(),
    };
    let (ratio_to, ratio) = mode
        .ratio
        .as_ref()
        .map_or_else(Default::default, |ratio| (ratio.to.clone(), ratio.value.middle.to_string()));
    let (change, verdict) = mode.change.as_ref().map_or_else(Default::default, |change| {
        (change.value.middle.to_string(), change.verdict.name().to_owned())
    });
    let fields: [String; TITLES.len()] = [
        row.benchmark.clone(),
        axes.join(" "),
        provider.device.clone(),
        report.device(&provider.device).map(|device| device.name.clone()).unwrap_or_default(),
        provider.name.clone(),
        mode.mode.clone(),
        mode.time_ns.middle.to_string(),
        mode.time_ns.low.to_string(),
        mode.time_ns.high.to_string(),
        mode.host_ns.to_string(),
        mode.noise.to_string(),
        mode.converged.to_string(),
        mode.samples_ns.len().to_string(),
        mode.launches_per_sample.to_string(),
        number(row.work.elements),
        number(row.work.bytes),
        number(row.work.f32_flops),
        number(row.work.f64_flops),
        ratio_to,
        ratio,
        change,
        verdict,
        number(resources.map(|resources| resources.registers.into())),
        number(resources.map(|resources| resources.local_bytes.into())),
        resources
            .and_then(|resources| resources.occupancy)
            .map(|share| share.to_string())
            .unwrap_or_default(),
        mode.throttled.join(" "),
        difference,
    ];
    fields.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(",")
}

fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("plain name"), "plain name");
        assert_eq!(quoted("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
    }
}
