//! The command line of a bench target.

use std::{path::PathBuf, time::Duration};

use clap::{Parser, ValueEnum};

use crate::{axis::Override, sampling::Stop, timer::Mode};

/// Measure kernels on GPUs and on the CPU
#[derive(Clone, Debug, Parser)]
#[command(max_term_width = 100)]
pub(crate) struct Args {
    /// Measure only benchmarks whose path contains one of these regular expressions
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// Measure on these devices: `cpu`, `gpu`, `gpu:1`, `best` or `all`; default: GPUKERNEL_DEVICE, or else `best`
    #[arg(long, value_name = "DEVICE", value_delimiter = ',')]
    pub(crate) device: Vec<String>,
    /// Values for an axis instead of the declared ones, of benchmarks that have it: `elements=1000,2^20`; again for other axes
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) axis: Vec<Override>,
    /// Measure in these modes
    #[arg(long, value_name = "MODE", value_delimiter = ',', default_value = "cold,batch")]
    pub(crate) mode: Vec<ModeName>,
    /// Sample until half the width of the median's confidence interval is this share of it (percent)
    #[arg(long, value_name = "PERCENT", default_value = "0.2", value_parser = percent)]
    pub(crate) noise: f64,
    /// Sample a row in a mode for this long at most (seconds)
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "4",
        value_parser = seconds,
        env = "GPUKERNEL_BENCH_MAX_TIME"
    )]
    pub(crate) max_time: Duration,
    /// Take at least this many samples
    #[arg(long, value_name = "N", default_value = "21", value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) min_samples: u32,
    /// Take at most this many samples
    #[arg(long, value_name = "N", default_value = "1001", value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) max_samples: u32,
    /// Launch for this long before sampling (seconds)
    #[arg(long, value_name = "SECONDS", default_value = "0.05", value_parser = seconds)]
    pub(crate) warm_up: Duration,
    /// Keep the results under this name, to compare with later
    #[arg(short, long, value_name = "NAME", value_parser = baseline_name)]
    pub(crate) save_baseline: Option<String>,
    /// Compare with the results under this name; fail if a time is longer
    #[arg(short, long, value_name = "NAME", value_parser = baseline_name, conflicts_with = "save_baseline")]
    pub(crate) baseline: Option<String>,
    /// Compare although the baseline was measured on another device
    #[arg(long, requires = "baseline")]
    pub(crate) allow_other_device: bool,
    /// Call a time the same as the baseline's if it differs by less (percent)
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = percent)]
    pub(crate) noise_threshold: f64,
    /// Resamples of criterion's bootstrap
    #[arg(long, value_name = "N", default_value = "10000", value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub(crate) resamples: u32,
    /// Print the results in this form
    #[arg(long, value_name = "FORM", default_value = "table", env = "GPUKERNEL_BENCH_OUTPUT")]
    pub(crate) output: Form,
    /// Write report, page, history and baselines to this folder; default: `gpukernel/bench/TARGET` in cargo's target folder
    #[arg(long, value_name = "DIR", env = "GPUKERNEL_BENCH_DIR")]
    pub(crate) output_dir: Option<PathBuf>,
    /// List the benchmarks with their axes
    #[arg(long)]
    pub(crate) list: bool,
    /// Check each benchmark once, without timing
    #[arg(long)]
    pub(crate) test: bool,

    // What cargo and test runners give.
    #[arg(long, hide = true)]
    pub(crate) bench: bool,
    #[arg(long, hide = true)]
    pub(crate) exact: bool,
    #[arg(long, hide = true)]
    pub(crate) ignored: bool,
    #[arg(long, hide = true)]
    include_ignored: bool,
    #[arg(long, alias = "no-capture", hide = true)]
    nocapture: bool,
    #[arg(long, hide = true)]
    show_output: bool,
    #[arg(long, hide = true, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    #[arg(long, hide = true, value_name = "N")]
    test_threads: Option<usize>,
    /// Print no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Colour the output
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// A mode as a word of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// One launch with other memory in the cache
    Cold,
    /// Many launches, one after another
    Batch,
}

/// The form of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Aligned columns
    Table,
    /// A table in Markdown
    Markdown,
    /// A line for each row, provider and mode
    Csv,
    /// All of it, with the samples
    Json,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

impl Args {
    pub(crate) fn modes(&self) -> Vec<Mode> {
        let asked = |mode: &Mode| match mode {
            Mode::Cold => self.mode.contains(&ModeName::Cold),
            Mode::Batch => self.mode.contains(&ModeName::Batch),
        };
        Mode::ALL.into_iter().filter(asked).collect()
    }

    pub(crate) fn stop(&self) -> Stop {
        Stop {
            noise: self.noise,
            min_samples: self.min_samples as usize,
            max_samples: self.max_samples.max(self.min_samples) as usize,
            max_time: self.max_time,
        }
    }

    /// Whether results are only checked: `cargo bench` gives `--bench`, `cargo test` does not.
    pub(crate) fn only_checks(&self) -> bool {
        self.test || !self.bench
    }

    /// Applies `--color` to all that is printed.
    pub(crate) fn set_color(&self) {
        match self.color {
            Color::Auto => {}
            Color::Always => anstream::ColorChoice::Always.write_global(),
            Color::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
}

/// A share, from percent.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().map_err(|error| error.to_string())?;
    let is_share = (0.0..=100.0).contains(&number);
    is_share.then_some(number / 100.0).ok_or_else(|| "a share is 0 to 100 percent".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.trim_end_matches('s').parse::<f64>().map_err(|error| error.to_string())?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}

/// It becomes the name of a folder, and criterion uses some for itself.
fn baseline_name(text: &str) -> Result<String, String> {
    let is_good = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | '.' | '+');
    if text.is_empty() || text.starts_with('.') || !text.chars().all(is_good) {
        return Err("a baseline's name has letters, digits, `-`, `_`, `.` and `+`".to_owned());
    }
    match text {
        "new" | "change" | "report" => Err(format!("`{text}` is a name of criterion's own")),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(["target"].into_iter().chain(line.split_whitespace()))
    }

    #[test]
    fn the_definition_of_the_arguments_holds_together() {
        Args::command().debug_assert();
    }

    #[test]
    fn test_runners_are_understood() {
        for line in ["", "--test-threads 1 --nocapture", "saxpy --exact --nocapture", "--list --format terse"]
        {
            assert!(parse(line).unwrap().only_checks(), "{line}");
        }
        assert!(!parse("--bench").unwrap().only_checks());
        assert!(parse("--bench --test").unwrap().only_checks());
    }

    #[test]
    fn shares_and_times_have_units() {
        let args = parse("--noise 0.5% --max-time 2.5s --noise-threshold 3").unwrap();
        assert_eq!(
            (args.noise, args.max_time, args.noise_threshold),
            (0.005, Duration::from_millis(2500), 0.03)
        );
        for line in
            ["--noise -1", "--noise 200", "--noise nan", "--max-time -1", "--min-samples 3", "--axis x"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn baselines_have_names_of_folders() {
        assert!(parse("--baseline main-2.0+x").is_ok());
        for name in ["new", "../main", "a/b", ".", "..", "change"] {
            assert!(parse(&format!("--save-baseline {name}")).is_err(), "{name}");
        }
        assert!(parse("--save-baseline a --baseline b").is_err());
    }
}
