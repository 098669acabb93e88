//! A run of a bench target: from the command line to the report.

use std::{
    cell::{RefCell, RefMut},
    collections::BTreeMap,
    env,
    io::{IsTerminal, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    time::{Duration, SystemTime},
};

use gpukernel::Device;
use regex::Regex;

use crate::{
    Bench, BoxError, Error, analysis,
    args::{self, Args, Form},
    axis::{Override, Values, combinations},
    baseline,
    benchmark::{Benchmark, Limit, Measured, RowOutcome},
    environment::{self, Monitor},
    folder::{self, Folder},
    peak,
    report::{self, AboveLimit, FORMAT, Failure, Report, Row, Skipped, history, row_name},
    sampling::Stop,
    timer::{Mode, Timer},
};

/// Runs the benchmarks of this program, as its command line says: the whole of `fn main` of a bench target.
///
/// Returns failure if a result is wrong, a benchmark returns an error or panics, a time is longer than the baseline's by more than noise, or
/// a ratio is above its limit without a reason.
pub fn main() -> ExitCode {
    main_with(Usual::Best)
}

/// As [`main()`], on this device unless the command line or `GPUKERNEL_DEVICE` names another: `cpu` for benchmarks of the CPU device, which
/// would otherwise be measured on a GPU where there is one.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     gpukernel_bench::main_on("cpu")
/// }
/// ```
pub fn main_on(device: &str) -> ExitCode {
    main_with(Usual::Named(device))
}

/// The device that is measured when the command line names none.
#[derive(Clone, Copy)]
enum Usual<'a> {
    /// That of `GPUKERNEL_DEVICE`, or else the best.
    Best,
    Named(&'a str),
}

fn main_with(usual: Usual<'_>) -> ExitCode {
    if let Some(samples) = analysis::is_asked_for() {
        return code(analysis::analyse_file(&samples).map(|()| true));
    }
    let target = folder::target_name();
    // Of cargo, the program has a hash in its name.
    let mut matches = args::command().bin_name(target.clone()).get_matches();
    code(Args::from_matches(&mut matches).and_then(|args| {
        args.set_color();
        run(&target, args, usual)
    }))
}

fn code(result: Result<bool, Error>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

const BAD: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();

fn complain(error: &dyn std::error::Error) {
    anstream::eprintln!("{BAD}error{BAD:#}: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        anstream::eprintln!("  caused by: {cause}");
        source = cause.source();
    }
}

/// What all rows have in common.
pub(crate) struct Session {
    args: Args,
    modes: Vec<Mode>,
    devices: Vec<Device>,
    /// By the ids of devices.
    timers: RefCell<BTreeMap<String, Timer>>,
}

impl Session {
    pub(crate) fn timers(&self) -> RefMut<'_, BTreeMap<String, Timer>> {
        self.timers.borrow_mut()
    }

    pub(crate) fn only_checks(&self) -> bool {
        self.args.only_checks()
    }

    pub(crate) fn modes(&self) -> &[Mode] {
        &self.modes
    }

    pub(crate) fn stop(&self) -> Stop {
        self.args.stop()
    }

    pub(crate) fn warm_up(&self) -> Duration {
        self.args.warm_up
    }

    pub(crate) fn monitor(&self) -> Monitor {
        Monitor::new(&self.devices)
    }

    /// Shows what is being done, on a terminal.
    fn progress(&self, what: &str) {
        if !self.args.quiet && std::io::stderr().is_terminal() {
            eprintln!("{what}");
        }
    }
}

/// Whether all is well.
fn run(target: &str, args: Args, usual: Usual<'_>) -> Result<bool, Error> {
    let benchmarks = selected(&args)?;
    // Test runners ask for names, which are the same on all devices.
    if args.list && args.format.is_some() {
        return print(&list(&benchmarks, &args, None)).map(|()| true);
    }
    if args.ignored && !args.list {
        return Ok(true);
    }
    // As `Device::best` has it: empty is not set.
    let usual = match env::var_os("GPUKERNEL_DEVICE") {
        Some(name) if !name.is_empty() => Usual::Best,
        _ => usual,
    };
    let devices = devices(&args.device, usual).map_err(|source| Error::Device { source })?;
    if args.list {
        return print(&list(&benchmarks, &args, devices.first())).map(|()| true);
    }
    let folder = Folder::of(target, args.output_dir.as_deref());
    let baseline = match &args.baseline {
        Some(name) => Some(baseline::load(&folder, target, name, &devices, args.allow_other_device)?),
        None => None,
    };
    let mut report = Report {
        format: FORMAT,
        target: target.to_owned(),
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        commit: environment::commit(),
        processor: Device::cpu().name().to_owned(),
        processor_threads: std::thread::available_parallelism().map_or(1, Into::into),
        devices: devices.iter().map(environment::device_facts).collect(),
        baseline,
        noise_threshold: args.noise_threshold,
        rows: Vec::new(),
        ratios: Vec::new(),
        skipped: Vec::new(),
        failures: Vec::new(),
        above_limits: Vec::new(),
    };
    let session = Session { modes: args.modes(), devices, args, timers: RefCell::default() };
    for benchmark in &benchmarks {
        measure(&session, benchmark, &mut report)?;
    }
    match session.only_checks() {
        true => {
            tell_checks(&report);
            Ok(report.failures.is_empty())
        }
        false => finish(&session, &folder, report),
    }
}

/// The benchmarks that fit the filters and have the axes, in the order of their paths.
fn selected(args: &Args) -> Result<Vec<&'static Benchmark>, Error> {
    // Test runners and `cargo gpukernel bench` ask for what other targets have, too.
    let is_lenient = args.list || args.only_checks();
    let mut all: Vec<&Benchmark> = inventory::iter::<Benchmark>().collect();
    all.sort_by_key(|benchmark| benchmark.path());
    let known = || all.iter().map(|benchmark| benchmark.path()).collect::<Vec<_>>();
    let mut is_selected = vec![args.filters.is_empty(); all.len()];
    for filter in &args.filters {
        let regex = Regex::new(filter)
            .map_err(|error| Error::Filter { filter: filter.clone(), reason: error.to_string() })?;
        let fits = |path: &str| if args.exact { path == filter } else { regex.is_match(path) };
        let mut any = false;
        for (benchmark, is_selected) in all.iter().zip(&mut is_selected) {
            let fits = fits(&benchmark.path());
            (*is_selected, any) = (*is_selected || fits, any || fits);
        }
        if !any && !is_lenient {
            return Err(Error::NoSuchBenchmark { filter: filter.clone(), known: known() });
        }
    }
    let mut selected: Vec<_> = all
        .into_iter()
        .zip(is_selected)
        .filter(|(_, is_selected)| *is_selected)
        .map(|(one, _)| one)
        .collect();
    for Override { name, .. } in &args.axis {
        let has_it = |benchmark: &Benchmark| benchmark.axes.iter().any(|axis| axis.name == name);
        if !selected.iter().any(|benchmark| has_it(benchmark)) && !is_lenient {
            let axes = selected.iter().flat_map(|benchmark| benchmark.axes);
            let mut known: Vec<_> = axes.map(|axis| axis.name.to_owned()).collect();
            known.sort();
            known.dedup();
            return Err(Error::NoSuchAxis { axis: name.clone(), known });
        }
        selected.retain(|benchmark| has_it(benchmark));
    }
    Ok(selected)
}

/// Lists benchmarks: with a device for people, with their axes there; without one as test runners expect it.
fn list(benchmarks: &[&Benchmark], args: &Args, device: Option<&Device>) -> String {
    let mut text = String::new();
    for benchmark in benchmarks.iter().filter(|_| !args.ignored) {
        text += &benchmark.path();
        match device {
            None => text += ": benchmark",
            Some(device) => {
                for axis in benchmark.axes {
                    text += &format!(" {}=[{}]", axis.name, (axis.values)(device).join(", "));
                }
            }
        }
        text.push('\n');
    }
    text
}

/// The devices that are asked for, or the usual one if none is.
fn devices(asked: &[String], usual: Usual<'_>) -> gpukernel::Result<Vec<Device>> {
    let mut devices: Vec<Device> = Vec::new();
    for name in asked {
        match name.as_str() {
            "all" => devices.extend(gpukernel::devices()?),
            name => devices.push(Device::from_name(name)?),
        }
    }
    if asked.is_empty() {
        devices.push(match usual {
            Usual::Named(name) => Device::from_name(name)?,
            Usual::Best => Device::best()?,
        });
    }
    let ids: Vec<_> = devices.iter().map(Device::id).collect();
    let mut index = 0;
    devices.retain(|_| {
        index += 1;
        !ids[..index - 1].contains(&ids[index - 1])
    });
    Ok(devices)
}

/// Measures all rows of a benchmark.
fn measure(session: &Session, benchmark: &Benchmark, report: &mut Report) -> Result<(), Error> {
    for device in &session.devices {
        let mut rows = combinations(benchmark.axes, &session.args.axis, device)?;
        if session.only_checks() {
            rows.truncate(1);
        }
        for values in &rows {
            let (path, axes) = (benchmark.path(), values.to_axes());
            let name = row_name(&path, &axes, &device.id());
            session.progress(&name);
            match one_row(session, benchmark, device, values) {
                Ok(RowOutcome::Skipped(reason)) => report.skipped.push(Skipped { row: name, reason }),
                Ok(RowOutcome::Measured(Measured { work, providers, limits })) => {
                    for provider in &providers {
                        add_device(report, &provider.device);
                    }
                    let row = Row { benchmark: path, axes, device: device.id(), work, providers };
                    report.above_limits.extend(limits.iter().flat_map(|limit| above(&row, &name, limit)));
                    report.rows.push(row);
                }
                Err(error) => {
                    let error = error.to_string();
                    anstream::eprintln!("{BAD}error{BAD:#}: {name}: {error}");
                    report.failures.push(Failure { row: name, error });
                }
            }
        }
    }
    Ok(())
}

fn one_row(
    session: &Session,
    benchmark: &Benchmark,
    device: &Device,
    values: &Values,
) -> Result<RowOutcome, BoxError> {
    let mut bench = Bench::new(device.clone(), session);
    // Other rows are measured all the same. The panic hook has printed the message.
    match catch_unwind(AssertUnwindSafe(|| (benchmark.run)(&mut bench, values))) {
        Ok(result) => result?,
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
            return Err(format!("it panicked: {text}").into());
        }
    }
    Ok(bench.into_outcome()?)
}

/// A provider's device that no row has.
fn add_device(report: &mut Report, id: &str) {
    if report.device(id).is_none()
        && let Ok(device) = Device::from_name(id)
    {
        report.devices.push(environment::device_facts(&device));
    }
}

/// Where the ratio of two providers is above a limit. By medians: neighbouring samples are compared with the first provider's only.
fn above(row: &Row, name: &str, limit: &Limit) -> Vec<AboveLimit> {
    let provider = |name: &str| row.providers.iter().find(|provider| provider.name == *name);
    let (Some(provider), Some(to)) = (provider(&limit.provider), provider(&limit.to)) else {
        return Vec::new();
    };
    let ratios = provider.modes.iter().filter_map(|mode| {
        let to = to.modes.iter().find(|to| to.mode == mode.mode)?;
        Some((mode, mode.time_ns.middle / to.time_ns.middle))
    });
    ratios
        .filter(|(_, ratio)| *ratio > limit.ratio)
        .map(|(mode, ratio)| AboveLimit {
            row: name.to_owned(),
            provider: limit.provider.clone(),
            to: limit.to.clone(),
            mode: mode.mode.clone(),
            ratio,
            limit: limit.ratio,
            reason: limit.reason.clone(),
        })
        .collect()
}

/// Says what was checked, as test runners do.
fn tell_checks(report: &Report) {
    for row in &report.rows {
        println!("test {} ... ok", row.name());
    }
    for skipped in &report.skipped {
        println!("test {} ... ignored, {}", skipped.row, skipped.reason);
    }
    for failure in &report.failures {
        println!("test {} ... FAILED", failure.row);
    }
    let outcome = if report.failures.is_empty() { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {outcome}. {} passed; {} failed; {} ignored; 0 measured; 0 filtered out",
        report.rows.len(),
        report.failures.len(),
        report.skipped.len()
    );
}

/// Analyses and writes what was measured. Whether all is well.
fn finish(session: &Session, folder: &Folder, mut report: Report) -> Result<bool, Error> {
    let args = &session.args;
    if report.rows.iter().any(|row| row.work != Default::default()) {
        session.progress("measuring what the devices do at most");
        for facts in &mut report.devices {
            let peaks = Device::from_name(&facts.id).and_then(|device| peak::measure(&device));
            facts.peaks = Some(peaks.map_err(|source| Error::Device { source })?);
        }
    }
    analysis::analyse(&mut report, folder, args.save_baseline.as_deref(), args.resamples)?;
    report.ratios = report::summary::summaries(&report.rows);
    let json = serde_json::to_vec(&report).map_err(|error| Error::Analysis { reason: error.to_string() })?;
    let history_file = folder.file("history.jsonl");
    let file_error = |doing, path: &std::path::Path| {
        let path = path.to_owned();
        move |source| Error::File { doing, path, source }
    };
    if !report.rows.is_empty() {
        let entry = history::Entry::of(&report);
        history::append(&history_file, &entry).map_err(file_error("write", &history_file))?;
    }
    let history = history::read(&history_file).map_err(file_error("read", &history_file))?;
    let page = report::page::page(&report, &history)
        .map_err(|error| Error::Analysis { reason: error.to_string() })?;
    let (csv, markdown) = (report::csv::csv(&report), report::table::markdown(&report));
    for (name, content) in [
        ("report.json", &json[..]),
        ("report.csv", csv.as_bytes()),
        ("report.md", markdown.as_bytes()),
        ("report.html", page.as_bytes()),
    ] {
        folder::write(&folder.file(name), content)?;
    }
    if let Some(name) = &args.save_baseline {
        folder::write(&folder.baseline(name), &json)?;
    }
    match args.output {
        Form::Table => print(&report::table::table(&report))?,
        Form::Markdown => print(&markdown)?,
        Form::Csv => print(&csv)?,
        Form::Json => print(&(String::from_utf8_lossy(&json) + "\n"))?,
    }
    if !args.quiet {
        eprintln!("report: {}", folder.file("report.html").display());
    }
    let mut is_well = report.failures.is_empty();
    for (row, provider, mode) in report.regressions() {
        is_well = false;
        let change = mode.change.as_ref().map_or(0.0, |change| change.value.middle * 100.0);
        let (row, provider, mode) = (row.name(), &provider.name, &mode.mode);
        anstream::eprintln!(
            "{BAD}error{BAD:#}: {row}: {provider}, {mode}: slower than the baseline by {change:.1} %"
        );
    }
    for above in report.above_limits.iter().filter(|above| above.reason.is_none()) {
        is_well = false;
        let AboveLimit { row, provider, to, mode, ratio, limit, .. } = above;
        anstream::eprintln!(
            "{BAD}error{BAD:#}: {row}: {mode}: {provider} / {to} is {ratio:.3}, above its limit of {limit:.2}"
        );
    }
    Ok(is_well)
}

/// Prints results. That nobody reads on, as behind `| head`, is no error.
fn print(text: &str) -> Result<(), Error> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::File { doing: "write", path: "standard output".into(), source })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_device_is_measured_if_none_is_asked_for() {
        let ids = |asked: &[&str], usual| -> gpukernel::Result<Vec<String>> {
            let asked: Vec<_> = asked.iter().map(|name| (*name).to_owned()).collect();
            Ok(devices(&asked, usual)?.iter().map(Device::id).collect())
        };
        assert_eq!(ids(&[], Usual::Named("cpu")).unwrap(), ["cpu"]);
        assert!(ids(&[], Usual::Named("gpu:4000")).is_err());
        assert_eq!(ids(&["cpu", "cpu"], Usual::Named("gpu:4000")).unwrap(), ["cpu"]);
    }
}
