//! The command line of a bench target.

use std::{path::PathBuf, str::FromStr, time::Duration};

use clap::{
    Arg, ArgAction, ArgMatches, Command,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

use crate::{Error, axis::Override, sampling::Stop, timer::Mode};

/// What the command line says.
#[derive(Clone, Debug)]
pub(crate) struct Args {
    pub(crate) filters: Vec<String>,
    pub(crate) device: Vec<String>,
    pub(crate) axis: Vec<Override>,
    mode: Vec<Mode>,
    noise: f64,
    pub(crate) max_time: Duration,
    min_samples: u32,
    max_samples: u32,
    pub(crate) warm_up: Duration,
    pub(crate) save_baseline: Option<String>,
    pub(crate) baseline: Option<String>,
    pub(crate) allow_other_device: bool,
    pub(crate) noise_threshold: f64,
    pub(crate) resamples: u32,
    pub(crate) output: Form,
    pub(crate) output_dir: Option<PathBuf>,
    pub(crate) list: bool,
    test: bool,
    bench: bool,
    pub(crate) exact: bool,
    pub(crate) ignored: bool,
    pub(crate) format: Option<String>,
    pub(crate) quiet: bool,
    color: Color,
}

/// The form of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Aligned columns.
    Table,
    /// A table in Markdown.
    Markdown,
    /// A line for each row, provider and mode.
    Csv,
    /// All of it, with the samples.
    Json,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    Always,
    Never,
}

/// The definition of the arguments. Without clap's derive, whose macro has features of syn that nothing else in a project needs: what is built for
/// `cargo run` would be built again for `cargo test`.
pub(crate) fn command() -> Command {
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    let value = |name: &'static str, of: &'static str| Arg::new(name).long(name).value_name(of);
    let count = |from: u32, to: u32| clap::value_parser!(u32).range(i64::from(from)..=i64::from(to));
    Command::new("bench")
        .about("Measure kernels on GPUs and on the CPU")
        .max_term_width(100)
        .arg(
            Arg::new("filters")
                .value_name("FILTER")
                .action(ArgAction::Append)
                .help("Measure only benchmarks whose path contains one of these regular expressions"),
        )
        .arg(value("device", "DEVICE").action(ArgAction::Append).value_delimiter(',').help(
            "Measure on these devices: `cpu`, `gpu`, `gpu:1`, `best` or `all`; default: GPUKERNEL_DEVICE, or else `best`",
        ))
        .arg(value("axis", "NAME=VALUE").action(ArgAction::Append).value_parser(Override::from_str).help(
            "Values for an axis instead of the declared ones, of benchmarks that have it: `elements=1000,2^20`; again for other axes",
        ))
        .arg(
            value("mode", "MODE")
                .action(ArgAction::Append)
                .value_delimiter(',')
                .default_value("cold,batch,replay")
                .value_parser(one_of(&[
                    ("cold", "One launch with other memory in the cache", Mode::Cold),
                    ("batch", "Many launches, one after another", Mode::Batch),
                    ("replay", "As batch, from a graph; only on a GPU", Mode::Replay),
                ]))
                .help("Measure in these modes"),
        )
        .arg(value("noise", "PERCENT").default_value("0.2").value_parser(percent).help(
            "Sample until half the width of the median's confidence interval is this share of it (percent)",
        ))
        .arg(
            value("max-time", "SECONDS")
                .default_value("4")
                .value_parser(seconds)
                .env("GPUKERNEL_BENCH_MAX_TIME")
                .help("Sample a row in a mode for this long at most (seconds)"),
        )
        .arg(
            value("min-samples", "N")
                .default_value("21")
                .value_parser(count(10, 100_000))
                .help("Take at least this many samples"),
        )
        .arg(
            value("max-samples", "N")
                .default_value("1001")
                .value_parser(count(10, 100_000))
                .help("Take at most this many samples"),
        )
        .arg(
            value("warm-up", "SECONDS")
                .default_value("0.05")
                .value_parser(seconds)
                .help("Launch for this long before sampling (seconds)"),
        )
        .arg(
            value("save-baseline", "NAME")
                .short('s')
                .value_parser(baseline_name)
                .help("Keep the results under this name, to compare with later"),
        )
        .arg(
            value("baseline", "NAME")
                .short('b')
                .value_parser(baseline_name)
                .conflicts_with("save-baseline")
                .help("Compare with the results under this name; fail if a time is longer"),
        )
        .arg(
            flag("allow-other-device")
                .requires("baseline")
                .help("Compare although the baseline was measured on another device"),
        )
        .arg(
            value("noise-threshold", "PERCENT")
                .default_value("2")
                .value_parser(percent)
                .help("Call a time the same as the baseline's if it differs by less (percent)"),
        )
        .arg(
            value("resamples", "N")
                .default_value("10000")
                .value_parser(count(100, 10_000_000))
                .help("Resamples of criterion's bootstrap"),
        )
        .arg(
            value("output", "FORM")
                .default_value("table")
                .value_parser(one_of(&[
                    ("table", "Aligned columns", Form::Table),
                    ("markdown", "A table in Markdown", Form::Markdown),
                    ("csv", "A line for each row, provider and mode", Form::Csv),
                    ("json", "All of it, with the samples", Form::Json),
                ]))
                .env("GPUKERNEL_BENCH_OUTPUT")
                .help("Print the results in this form"),
        )
        .arg(
            value("output-dir", "DIR")
                .value_parser(clap::value_parser!(PathBuf))
                .env("GPUKERNEL_BENCH_DIR")
                .help("Write report, page, history and baselines to this folder; default: `gpukernel/bench/TARGET` in cargo's target folder"),
        )
        .arg(flag("list").help("List the benchmarks with their axes"))
        .arg(flag("test").help("Check each benchmark once, without timing"))
        // What cargo and test runners give.
        .args(["bench", "exact", "ignored", "include-ignored", "show-output"].map(|name| flag(name).hide(true)))
        .arg(flag("nocapture").alias("no-capture").hide(true))
        .arg(value("format", "FORMAT").hide(true))
        .arg(value("test-threads", "N").value_parser(clap::value_parser!(usize)).hide(true))
        .arg(flag("quiet").short('q').help("Print no progress"))
        .arg(
            value("color", "WHEN")
                .default_value("auto")
                .value_parser(one_of(&[
                    ("auto", "On a terminal, unless NO_COLOR is set", Color::Auto),
                    ("always", "", Color::Always),
                    ("never", "", Color::Never),
                ]))
                .help("Colour the output"),
        )
}

/// A parser of words that stand for values, each with its help.
fn one_of<T: Copy + Send + Sync + 'static>(
    words: &'static [(&'static str, &'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let possible = words.iter().map(|(word, help, _)| {
        let value = PossibleValue::new(*word);
        if help.is_empty() { value } else { value.help(*help) }
    });
    PossibleValuesParser::new(possible).try_map(|given| {
        let found = words.iter().find(|(word, ..)| *word == given);
        found.map(|(.., value)| *value).ok_or("no such value")
    })
}

impl Args {
    /// # Errors
    /// [`Error::Arguments`], if this is not what [`command`] defines.
    pub(crate) fn from_matches(matches: &mut ArgMatches) -> Result<Self, Error> {
        fn some<T: Clone + Send + Sync + 'static>(
            matches: &mut ArgMatches,
            argument: &'static str,
        ) -> Result<Option<T>, Error> {
            matches.try_remove_one(argument).map_err(|_| Error::Arguments { argument })
        }
        fn one<T: Clone + Send + Sync + 'static>(
            matches: &mut ArgMatches,
            argument: &'static str,
        ) -> Result<T, Error> {
            some(matches, argument)?.ok_or(Error::Arguments { argument })
        }
        fn all<T: Clone + Send + Sync + 'static>(
            matches: &mut ArgMatches,
            argument: &'static str,
        ) -> Result<Vec<T>, Error> {
            let values = matches.try_remove_many(argument).map_err(|_| Error::Arguments { argument })?;
            Ok(values.map(Iterator::collect).unwrap_or_default())
        }
        Ok(Self {
            filters: all(matches, "filters")?,
            device: all(matches, "device")?,
            axis: all(matches, "axis")?,
            mode: all(matches, "mode")?,
            noise: one(matches, "noise")?,
            max_time: one(matches, "max-time")?,
            min_samples: one(matches, "min-samples")?,
            max_samples: one(matches, "max-samples")?,
            warm_up: one(matches, "warm-up")?,
            save_baseline: some(matches, "save-baseline")?,
            baseline: some(matches, "baseline")?,
            allow_other_device: one(matches, "allow-other-device")?,
            noise_threshold: one(matches, "noise-threshold")?,
            resamples: one(matches, "resamples")?,
            output: one(matches, "output")?,
            output_dir: some(matches, "output-dir")?,
            list: one(matches, "list")?,
            test: one(matches, "test")?,
            bench: one(matches, "bench")?,
            exact: one(matches, "exact")?,
            ignored: one(matches, "ignored")?,
            format: some(matches, "format")?,
            quiet: one(matches, "quiet")?,
            color: one(matches, "color")?,
        })
    }

    pub(crate) fn modes(&self) -> Vec<Mode> {
        Mode::ALL.into_iter().filter(|mode| self.mode.contains(mode)).collect()
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

    fn parse(line: &str) -> Result<Args, clap::Error> {
        let words = ["target"].into_iter().chain(line.split_whitespace());
        command().try_get_matches_from(words).map(|mut matches| Args::from_matches(&mut matches).unwrap())
    }

    #[test]
    fn the_definition_of_the_arguments_holds_together() {
        command().debug_assert();
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
