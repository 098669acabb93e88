//! Nsight Compute: how it is called, and what its page of raw metrics says.
//!
//! `ncu --page raw --csv` prints a row of names, a row of units, and a row for each launch. Metrics that a set does not have are not there, and names
//! have come and gone: what is not there is left out of the table.

use std::ffi::OsString;

use anyhow::Context;

use super::Session;
use crate::table::table;

/// Runs the program, and gives the table of launches.
pub(super) fn profile(session: &Session<'_>) -> anyhow::Result<String> {
    let kernel = session.kernel.context("ncu profiles one kernel")?;
    let args = session.args;
    let mut words: Vec<OsString> = vec![session.profiler.into()];
    let mut add = |option: &[&str]| words.extend(option.iter().map(OsString::from));
    add(&["--kernel-name", &kernel.symbol]);
    add(&["--launch-skip", &args.skip.to_string(), "--launch-count", &args.launches.to_string()]);
    add(&["--set", &args.set, "--import-source", "yes"]);
    // What it says is not mixed with what the program prints.
    add(&["--log-file", "stderr", "--force-overwrite", "--export"]);
    words.push(session.file.into());
    words.extend(args.profiler_option.iter().map(OsString::from));
    drop(std::fs::remove_file(session.file));
    let ended = session.run(&words)?;
    if !session.file.is_file() {
        return Err(session.nothing(&ended));
    }
    let mut read: Vec<OsString> = vec!["--import".into(), session.file.into()];
    read.extend(["--page", "raw", "--csv", "--print-units", "base"].map(OsString::from));
    let launches = parse(&session.read(&read)?)?;
    if launches.is_empty() {
        return Err(session.nothing(&ended));
    }
    Ok(format!("{}\n{}\n", kernel.name, show(&launches)))
}

/// A launch, as ncu measured it. What a set of metrics does not have is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Launch {
    grid: String,
    block: String,
    duration_ns: Option<f64>,
    /// In percent of the peak, as the others.
    sm: Option<f64>,
    memory: Option<f64>,
    dram: Option<f64>,
    occupancy: Option<f64>,
    /// What registers, shared memory and the block allow.
    possible_occupancy: Option<f64>,
    registers: Option<f64>,
    /// Reasons why warps wait, with their share of the time of a warp in percent, the most frequent first.
    stalls: Vec<(String, f64)>,
}

/// Reads the page of raw metrics. Lines before it are the tool's.
fn parse(text: &str) -> anyhow::Result<Vec<Launch>> {
    let Some(start) = text.find("\"ID\",") else { return Ok(Vec::new()) };
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(&text.as_bytes()[start..]);
    let names = reader.headers().context("ncu wrote no CSV")?.clone();
    let column = |name: &str| names.iter().position(|column| column == name);
    let mut launches = Vec::new();
    for row in reader.records() {
        let row = row.context("ncu wrote no CSV")?;
        // The second row has units.
        if row.get(0).is_none_or(|id| id.trim().parse::<u64>().is_err()) {
            continue;
        }
        let text =
            |name: &str| column(name).and_then(|column| row.get(column)).unwrap_or_default().to_owned();
        let number = |name: &str| column(name).and_then(|column| number(row.get(column)?));
        launches.push(Launch {
            grid: text("Grid Size"),
            block: text("Block Size"),
            duration_ns: number("gpu__time_duration.sum"),
            sm: number("sm__throughput.avg.pct_of_peak_sustained_elapsed"),
            memory: number("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"),
            dram: number("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed")
                .or_else(|| number("dram__throughput.avg.pct_of_peak_sustained_elapsed")),
            occupancy: number("sm__warps_active.avg.pct_of_peak_sustained_active"),
            possible_occupancy: number("sm__maximum_warps_per_active_cycle_pct"),
            registers: number("launch__registers_per_thread"),
            stalls: stalls(names.iter().zip(row.iter())),
        });
    }
    Ok(launches)
}

/// A number with or without separators of thousands; `None` for `n/a`.
fn number(text: &str) -> Option<f64> {
    text.trim().replace(',', "").parse().ok().filter(|number: &f64| number.is_finite())
}

/// So many reasons are shown.
const STALLS: usize = 3;

/// The reasons why warps wait between two instructions, by `smsp__average_warps_issue_stalled_REASON_per_issue_active.ratio`.
fn stalls<'a>(metrics: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, f64)> {
    let reason = |name: &str| {
        let rest = name.strip_prefix("smsp__average_warps_issue_stalled_")?;
        Some(rest.strip_suffix("_per_issue_active.ratio")?.to_owned())
    };
    let mut all: Vec<_> = metrics.filter_map(|(name, value)| Some((reason(name)?, number(value)?))).collect();
    let total: f64 = all.iter().map(|(_, cycles)| cycles).sum();
    // A warp that is selected does not wait.
    all.retain(|(reason, cycles)| reason != "selected" && !reason.ends_with("_not_issued") && *cycles > 0.0);
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all.truncate(STALLS);
    all.into_iter().map(|(reason, cycles)| (reason.replace('_', " "), 100.0 * cycles / total)).collect()
}

fn show(launches: &[Launch]) -> String {
    let mut table = table(
        ["launch", "grid", "block", "time", "SM", "memory", "DRAM", "occupancy", "possible", "regs"],
        3,
    );
    let percent = |value: Option<f64>| value.map_or_else(unknown, |value| format!("{value:.1} %"));
    for (number, launch) in (1..).zip(launches) {
        table.add_row([
            number.to_string(),
            launch.grid.clone(),
            launch.block.clone(),
            launch.duration_ns.map_or_else(unknown, duration),
            percent(launch.sm),
            percent(launch.memory),
            percent(launch.dram),
            percent(launch.occupancy),
            percent(launch.possible_occupancy),
            launch.registers.map_or_else(unknown, |registers| format!("{registers:.0}")),
        ]);
    }
    let mut text = format!("{}\nSM, memory, DRAM: percent of their peak throughput", table.trim_fmt());
    for (number, launch) in (1..).zip(launches).filter(|(_, launch)| !launch.stalls.is_empty()) {
        let stalls: Vec<_> =
            launch.stalls.iter().map(|(reason, share)| format!("{reason} {share:.0} %")).collect();
        text += &format!("\nlaunch {number}: warps wait for {}", stalls.join(", "));
    }
    text
}

fn unknown() -> String {
    "?".to_owned()
}

/// A duration for people.
pub(super) fn duration(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e6 => format!("{:.2} µs", ns / 1e3),
        ..1e9 => format!("{:.2} ms", ns / 1e6),
        _ => format!("{:.2} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What ncu 2025.3.1 printed on an H100, with some of its columns.
    const RAW: &str = include_str!("../../../tests/data/ncu-raw.csv");

    #[test]
    fn rows_are_launches() {
        let launches = parse(&format!("==PROF== Connected to process 7\n{RAW}")).unwrap();
        assert_eq!(launches.len(), 1);
        let launch = &launches[0];
        assert_eq!((launch.grid.as_str(), launch.block.as_str()), ("(1, 1, 1)", "(256, 1, 1)"));
        assert_eq!(launch.duration_ns, Some(2816.0), "numbers have separators of thousands");
        assert_eq!((launch.sm, launch.memory, launch.dram), (Some(0.01), Some(11.38), Some(0.05)));
        assert_eq!((launch.occupancy, launch.possible_occupancy), (Some(7.85), Some(100.0)));
        assert_eq!(launch.registers, Some(20.0));
        let stalls: Vec<_> = launch.stalls.iter().map(|(reason, _)| reason.as_str()).collect();
        assert_eq!(stalls, ["no instruction", "imc miss", "wait"]);
    }

    #[test]
    fn the_table_shows_what_is_measured() {
        let text = show(&parse(RAW).unwrap());
        let expected = "\
launch  grid       block           time     SM  memory   DRAM  occupancy  possible  regs
1       (1, 1, 1)  (256, 1, 1)  2.82 µs  0.0 %  11.4 %  0.1 %      7.8 %   100.0 %    20
SM, memory, DRAM: percent of their peak throughput
launch 1: warps wait for no instruction 47 %, imc miss 16 %, wait 12 %";
        assert_eq!(text, expected, "{text}");
    }

    #[test]
    fn what_is_not_measured_is_unknown() {
        let unknown = RAW
            .replace("\"2,816\"", "\"n/a\"")
            .replace("gpu__dram_throughput", "gpu__other")
            .replace("issue_stalled", "issue_other");
        let launches = parse(&unknown).unwrap();
        assert_eq!((launches[0].duration_ns, launches[0].dram), (None, None));
        let text = show(&launches);
        let row: Vec<_> =
            text.lines().nth(1).unwrap().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(
            row,
            ["1", "(1, 1, 1)", "(256, 1, 1)", "?", "0.0 %", "11.4 %", "?", "7.8 %", "100.0 %", "20"]
        );
        assert!(!text.contains("warps wait"), "{text}");
    }

    #[test]
    fn a_page_without_launches_is_empty() {
        assert!(parse("==WARNING== No kernels were profiled.\n").unwrap().is_empty());
        assert!(parse("").unwrap().is_empty());
        assert!(parse("\"ID\",\"Process ID\"\n\"\",\"\"\n").unwrap().is_empty());
    }

    #[test]
    fn durations_are_readable() {
        assert_eq!([12.0, 1234.0, 5.6e6, 7e9].map(duration), ["12 ns", "1.23 µs", "5.60 ms", "7.00 s"]);
    }
}
