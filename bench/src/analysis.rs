//! Estimates by criterion: its bootstrap, its baselines.
//!
//! Criterion measures one benchmark after another, and decides beforehand how long. Here providers take turns until the noise is low, so the
//! samples are taken first, and given to criterion afterwards: in a process of its own, because it prints as it goes. That process is this
//! program again, which [`is_asked_for`] tells.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use criterion::{Criterion, SamplingMode};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use crate::{
    Error,
    baseline::damaged,
    folder::{self, Folder},
    report::{Change, Interval, ModeResult, ProviderResult, Report, Row, Verdict},
};

/// Names the file of samples in the process that analyses them.
const VARIABLE: &str = "GPUKERNEL_BENCH_SAMPLES";
/// The baseline that criterion compares with when it is not told another.
const LAST_RUN: &str = "last-run";

/// What criterion is given.
#[derive(Serialize, Deserialize)]
struct Input {
    output_dir: PathBuf,
    /// What to compare with, if anything.
    baseline: Option<String>,
    save_as: String,
    noise_threshold: f64,
    resamples: usize,
    series: Vec<Series>,
}

/// The samples of a row, provider and mode.
#[derive(Serialize, Deserialize)]
struct Series {
    group: String,
    function: String,
    samples_ns: Vec<f64>,
}

/// What criterion writes, as far as it is read here.
#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    confidence_interval: ConfidenceInterval,
    point_estimate: f64,
}

#[derive(Deserialize)]
struct ConfidenceInterval {
    lower_bound: f64,
    upper_bound: f64,
}

impl From<Estimates> for Interval {
    fn from(Estimates { median }: Estimates) -> Self {
        let ConfidenceInterval { lower_bound: low, upper_bound: high } = median.confidence_interval;
        Self { low, middle: median.point_estimate, high }
    }
}

/// Where criterion keeps what it knows of a series. Its names of folders are cut off after 64 bytes, so these are shorter, and the hash
/// tells apart what is cut off.
fn place(row: &Row, provider: &ProviderResult, mode: &ModeResult) -> (String, String) {
    let identity = [&row.name(), &provider.name, &provider.device, &mode.mode].map(String::as_str).join("\n");
    let hash = Sha256::digest(identity);
    let hash: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let short = |text: &str| -> String {
        let plain = |character: char| if character.is_alphanumeric() { character } else { '-' };
        text.chars().map(plain).take(16).collect()
    };
    (short(&row.benchmark), format!("{}-{}-{hash}", short(&provider.name), mode.mode))
}

/// Replaces the medians of the report by criterion's, and fills in the changes since the baseline.
///
/// # Errors
/// If criterion fails, or a file of the baseline is damaged.
pub(crate) fn analyse(
    report: &mut Report,
    folder: &Folder,
    save_as: Option<&str>,
    resamples: u32,
) -> Result<(), Error> {
    let output_dir = folder.criterion();
    let baseline = report.baseline.as_ref().map(|baseline| baseline.name.clone());
    let mut series = Vec::new();
    for (row, provider, mode) in modes(report) {
        let (group, function) = place(row, provider, mode);
        series.push(Series { group, function, samples_ns: mode.samples_ns.clone() });
    }
    if series.is_empty() {
        return Ok(());
    }
    let places: Vec<PathBuf> =
        series.iter().map(|series| output_dir.join(&series.group).join(&series.function)).collect();
    if let Some(name) = &baseline {
        // Criterion would only print that it cannot read them.
        for place in &places {
            for file in ["sample.json", "estimates.json"] {
                check_json(name, &place.join(name).join(file))?;
            }
        }
    }
    for place in &places {
        remove(&place.join("change"))?;
    }
    let input = Input {
        output_dir,
        baseline,
        save_as: save_as.unwrap_or(LAST_RUN).to_owned(),
        noise_threshold: report.noise_threshold.max(f64::MIN_POSITIVE),
        resamples: resamples as usize,
        series,
    };
    run_criterion(folder, &input)?;
    let threshold = report.noise_threshold;
    let mut places = places.iter();
    for row in &mut report.rows {
        for mode in row.providers.iter_mut().flat_map(|provider| &mut provider.modes) {
            let place = places.next().expect("there is one for each");
            mode.time_ns = read::<Estimates>(&place.join("new/estimates.json"))?.into();
            if let Some(name) = &input.baseline
                && place.join(name).is_dir()
            {
                let value = read::<Estimates>(&place.join("change/estimates.json"))?.into();
                mode.change = Some(Change { value, verdict: Verdict::of(value, threshold) });
            }
        }
    }
    Ok(())
}

fn modes(report: &Report) -> impl Iterator<Item = (&Row, &ProviderResult, &ModeResult)> {
    report.rows.iter().flat_map(|row| {
        row.providers
            .iter()
            .flat_map(move |provider| provider.modes.iter().map(move |mode| (row, provider, mode)))
    })
}

/// Whether a file of a baseline can be read. Rows that the baseline does not have have none.
fn check_json(name: &str, path: &Path) -> Result<(), Error> {
    match fs::read_to_string(path) {
        Ok(text) => match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(_) => Ok(()),
            Err(error) => Err(damaged(name, path, &error)),
        },
        // A folder without one of its files is damaged.
        Err(error) if path.parent().is_some_and(Path::is_dir) => Err(damaged(name, path, &error)),
        Err(_) => Ok(()),
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::File {
        doing: "read criterion's",
        path: path.to_owned(),
        source,
    })?;
    serde_json::from_str(&text).map_err(|source| Error::File {
        doing: "understand criterion's",
        path: path.to_owned(),
        source: source.into(),
    })
}

/// Changes of an earlier run are not of this one.
fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::File { doing: "remove", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

fn run_criterion(folder: &Folder, input: &Input) -> Result<(), Error> {
    let failed = |reason: String| Error::Analysis { reason };
    let file = folder.file("samples.json");
    let text = serde_json::to_vec(input).map_err(|error| failed(error.to_string()))?;
    folder::write(&file, &text)?;
    let program = env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.env(VARIABLE, &file).stdin(Stdio::null());
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    match output.status.success() {
        true => remove_file(&file),
        false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

fn remove_file(path: &Path) -> Result<(), Error> {
    fs::remove_file(path).map_err(|source| Error::File { doing: "remove", path: path.to_owned(), source })
}

/// The file of samples, if this process is to analyse them.
pub(crate) fn is_asked_for() -> Option<PathBuf> {
    env::var_os(VARIABLE).map(PathBuf::from)
}

/// Has criterion analyse the samples.
///
/// # Errors
/// If the file of samples cannot be read.
pub(crate) fn analyse_file(path: &Path) -> Result<(), Error> {
    let input: Input = read(path)?;
    let mut criterion = Criterion::default()
        .without_plots()
        .output_directory(&input.output_dir)
        .noise_threshold(input.noise_threshold)
        .nresamples(input.resamples)
        .warm_up_time(Duration::from_nanos(1))
        .measurement_time(Duration::from_millis(1));
    criterion = match &input.baseline {
        // Rows that the baseline does not have are not compared.
        Some(name) => criterion.retain_baseline(name.clone(), false),
        None => criterion.save_baseline(input.save_as.clone()),
    };
    for Series { group, function, samples_ns } in &input.series {
        let mut group = criterion.benchmark_group(group);
        group.sample_size(samples_ns.len()).sampling_mode(SamplingMode::Flat);
        let mut next = samples_ns.iter().cycle();
        group.bench_function(function, |bencher| {
            // Some calls more than there are samples, to warm up: the samples come in turns, so that each is among the last ones once.
            let sample = next.next().copied().unwrap_or(1.0);
            bencher.iter_custom(|launches| {
                Duration::from_secs_f64(sample * launches as f64 / 1e9).max(Duration::from_nanos(1))
            });
        });
        group.finish();
    }
    Ok(())
}
