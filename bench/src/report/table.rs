//! The report as a table: for the terminal, and in Markdown.

use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::{
    Change, ModeResult, Peaks, ProviderResult, Report, Row, Verdict, Work,
    format::{percent, rate, time},
    summary,
};

/// The titles, and whether a column has numbers.
const COLUMNS: [(&str, bool); 12] = [
    ("benchmark", false),
    ("provider", false),
    ("mode", false),
    ("time", true),
    ("±", true),
    ("host", true),
    ("rate", true),
    ("of peak", true),
    ("ratio", true),
    ("change", false),
    ("regs", true),
    ("warps", true),
];

/// For a terminal.
pub(crate) fn table(report: &Report) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(COLUMNS.map(|(title, _)| title));
    for (column, (_, is_number)) in table.column_iter_mut().zip(COLUMNS) {
        column.set_padding((0, 2));
        if is_number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    lines(report).for_each(|line| {
        table.add_row(line);
    });
    let head: String = heads(report).map(|line| line + "\n").collect();
    let notes: String = notes(report).map(|line| line + "\n").collect();
    match report.rows.is_empty() {
        true => format!("{head}{notes}"),
        false => format!("{head}\n{}\n{}{notes}", table.trim_fmt(), if notes.is_empty() { "" } else { "\n" }),
    }
}

/// In Markdown.
pub(crate) fn markdown(report: &Report) -> String {
    let mut text = heads(report).fold(String::new(), |text, line| text + &line + "\n\n");
    if !report.rows.is_empty() {
        let row = |cells: &[String]| {
            let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        text += &row(&COLUMNS.map(|(title, _)| title.to_owned()));
        text += &row(&COLUMNS.map(|(_, is_number)| if is_number { "--:" } else { "---" }.to_owned()));
        lines(report).for_each(|line| text += &row(&line));
    }
    for note in notes(report) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{note}\n");
    }
    text
}

/// The devices and the baseline.
fn heads(report: &Report) -> impl Iterator<Item = String> {
    let device = |device: &super::DeviceFacts| {
        let mut text = format!("{}: {}", device.id, device.name);
        if let Some(driver) = &device.driver {
            text += &format!(", driver {driver}");
        }
        if let Some(Peaks { bytes, f32_flops, f64_flops }) = device.peaks {
            let [f32_flops, f64_flops] = [f32_flops, f64_flops].map(|flops| rate(flops, "flop"));
            text += &format!(", measured peak {}, f32 {f32_flops}, f64 {f64_flops}", rate(bytes, "B"));
        }
        text
    };
    let baseline = report.baseline.as_ref().map(|baseline| {
        let commit =
            baseline.commit.as_deref().map(|commit| format!(", commit {commit}")).unwrap_or_default();
        format!("baseline: {} of {}{commit}", baseline.name, baseline.started)
    });
    report.devices.iter().map(device).chain(baseline)
}

fn lines(report: &Report) -> impl Iterator<Item = [String; COLUMNS.len()]> {
    report.rows.iter().flat_map(move |row| {
        let providers =
            row.providers.iter().flat_map(|provider| provider.modes.iter().map(move |mode| (provider, mode)));
        providers.map(move |(provider, mode)| line(report, row, provider, mode))
    })
}

fn line(report: &Report, row: &Row, provider: &ProviderResult, mode: &ModeResult) -> [String; COLUMNS.len()] {
    let axes: String = row.axes.iter().map(|axis| format!(" {}={}", axis.name, axis.value)).collect();
    // Of several devices, a provider may have another than its row.
    let device = match report.devices.len() > 1 {
        true => format!(" ({})", provider.device),
        false => String::new(),
    };
    let peaks = report.device(&provider.device).and_then(|device| device.peaks);
    let share = peaks.and_then(|peaks| share_of_peak(&row.work, &peaks, mode.time_ns.middle));
    let resources = provider.kernels.first().and_then(|kernel| kernel.resources);
    [
        format!("{}{axes}", row.benchmark),
        format!("{}{device}", provider.name),
        mode.mode.clone(),
        time(mode.time_ns.middle),
        percent(mode.noise)
            + if mode.converged { "" } else { " !" }
            + if mode.throttled.is_empty() { "" } else { " T" },
        time(mode.host_ns),
        rates(&row.work, mode.time_ns.middle),
        share.map(percent).unwrap_or_default(),
        mode.ratio
            .as_ref()
            .map(|ratio| {
                format!("{:.3} ± {:.3}", ratio.value.middle, (ratio.value.high - ratio.value.low) / 2.0)
            })
            .unwrap_or_default(),
        mode.change.as_ref().map(change).unwrap_or_default(),
        resources.map(|resources| resources.registers.to_string()).unwrap_or_default(),
        resources
            .and_then(|resources| resources.occupancy)
            .map(|share| format!("{:.0} %", share * 100.0))
            .unwrap_or_default(),
    ]
}

fn change(change: &Change) -> String {
    let by = format!("{:+.1} %", change.value.middle * 100.0);
    match change.verdict {
        Verdict::Same => format!("same ({by})"),
        verdict => format!("{} {by}", verdict.name()),
    }
}

/// What a launch handles per second: bytes, else operations, else elements.
fn rates(work: &Work, time_ns: f64) -> String {
    let per_second = |count: u64| count as f64 / time_ns * 1e9;
    let flops = work.f32_flops.or(work.f64_flops);
    match (work.bytes, flops, work.elements) {
        (Some(bytes), _, _) => rate(per_second(bytes), "B"),
        (None, Some(flops), _) => rate(per_second(flops), "flop"),
        (None, None, Some(elements)) => rate(per_second(elements), ""),
        (None, None, None) => String::new(),
    }
}

/// The share of what the device does at most: of what limits it, which is the largest.
pub(crate) fn share_of_peak(work: &Work, peaks: &Peaks, time_ns: f64) -> Option<f64> {
    let pairs =
        [(work.bytes, peaks.bytes), (work.f32_flops, peaks.f32_flops), (work.f64_flops, peaks.f64_flops)];
    let shares = pairs.into_iter().filter_map(|(count, peak)| Some(count? as f64 / time_ns * 1e9 / peak));
    shares.reduce(f64::max)
}

/// What has to be said beside the numbers.
fn notes(report: &Report) -> impl Iterator<Item = String> {
    let modes =
        || report.rows.iter().flat_map(|row| row.providers.iter().flat_map(|provider| &provider.modes));
    let mut notes = summary::lines(&report.ratios);
    let unsettled = modes().filter(|mode| !mode.converged).count();
    if unsettled > 0 {
        notes.push(format!("!: {unsettled} times did not converge: the noise did not come below what was asked before the time was up"));
    }
    let mut reasons: Vec<_> = modes().flat_map(|mode| &mode.throttled).map(String::as_str).collect();
    reasons.sort_unstable();
    reasons.dedup();
    if !reasons.is_empty() {
        let count = modes().filter(|mode| !mode.throttled.is_empty()).count();
        notes.push(format!("T: during {count} times the GPU was slower than it can: {}", reasons.join(", ")));
    }
    for above in &report.above_limits {
        let reason = above.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let super::AboveLimit { row, provider, to, mode, ratio, limit, .. } = above;
        notes.push(format!(
            "above its limit: {row}, {mode}: {provider} / {to} = {ratio:.3}, allowed {limit:.2}{reason}"
        ));
    }
    notes.extend(not_replayed(report));
    notes
        .extend(report.skipped.iter().map(|skipped| format!("skipped: {}: {}", skipped.row, skipped.reason)));
    notes.extend(report.failures.iter().map(|failure| format!("failed: {}: {}", failure.row, failure.error)));
    if report.baseline.is_some() {
        let count = |verdict| {
            modes()
                .filter(|mode| mode.change.as_ref().is_some_and(|change| change.verdict == verdict))
                .count()
        };
        let new = modes().filter(|mode| mode.change.is_none()).count();
        let counts = [Verdict::Faster, Verdict::Slower, Verdict::Same, Verdict::Unclear]
            .map(|verdict| format!("{} {}", count(verdict), verdict.name()));
        let new = if new > 0 { format!(", {new} not in the baseline") } else { String::new() };
        notes.push(format!("against the baseline: {}{new}", counts.join(", ")));
    }
    notes.into_iter()
}

/// A line for each provider and reason why it has no times in the mode `replay`.
fn not_replayed(report: &Report) -> impl Iterator<Item = String> {
    let mut found: Vec<(&str, &str, usize)> = Vec::new();
    for provider in report.rows.iter().flat_map(|row| &row.providers) {
        let Some(reason) = &provider.not_replayed else { continue };
        match found.iter_mut().find(|(name, known, _)| *name == provider.name && known == reason) {
            Some((_, _, rows)) => *rows += 1,
            None => found.push((&provider.name, reason, 1)),
        }
    }
    found.into_iter().map(|(name, reason, rows)| {
        let rows = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
        format!("not replayed: {name} in {rows}: {reason}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_that_of_what_limits() {
        let peaks = Peaks { bytes: 100e9, f32_flops: 1e12, f64_flops: 1e12 };
        let share = |work| share_of_peak(&work, &peaks, 1e9);
        assert_eq!(share(Work::default()), None);
        assert_eq!(share(Work { bytes: Some(50_000_000_000), ..Work::default() }), Some(0.5));
        let both = Work { bytes: Some(50_000_000_000), f32_flops: Some(900_000_000_000), ..Work::default() };
        assert_eq!(share(both), Some(0.9));
    }
}
