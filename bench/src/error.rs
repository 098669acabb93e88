//! What goes wrong in a run.

use std::{io, path::PathBuf};

/// What goes wrong in a run of benchmarks, beside what their own code returns.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command line was understood, and does not have what this crate says it has: a mistake in this crate.
    #[error("the command line has no `{argument}`; please report this as a bug of gpukernel-bench")]
    Arguments {
        /// The argument.
        argument: &'static str,
    },
    /// A value of the command line, or a declared one, is none of the parameter's type.
    #[error("`{value}` is no value for the axis `{axis}`, which is of type {ty}: {reason}")]
    Value {
        /// The axis.
        axis: String,
        /// The text.
        value: String,
        /// The type of the parameter.
        ty: &'static str,
        /// What the type's `FromStr` says.
        reason: String,
    },
    /// The command line asks for a type or constant that is not declared.
    #[error("`{value}` is not among the values of the axis `{axis}`, which is a type or constant, so that only declared values are compiled: {}", list(.declared))]
    NotCompiled {
        /// The axis.
        axis: String,
        /// What was asked for.
        value: String,
        /// What is declared.
        declared: Vec<String>,
    },
    /// No benchmark has an axis that the command line gives values for.
    #[error("no benchmark has an axis `{axis}`; there are {}{}", list(.known), suggestion(.axis, .known))]
    NoSuchAxis {
        /// What was asked for.
        axis: String,
        /// The axes that there are.
        known: Vec<String>,
    },
    /// No benchmark fits the filter.
    #[error("no benchmark fits `{filter}`; there are {}{}", list(.known), suggestion(.filter, .known))]
    NoSuchBenchmark {
        /// The filter.
        filter: String,
        /// The benchmarks that there are.
        known: Vec<String>,
    },
    /// A filter is no regular expression.
    #[error("`{filter}` is no regular expression: {reason}")]
    Filter {
        /// The filter.
        filter: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A benchmark gives nothing to compare results with.
    #[error(
        "nothing says what must come out: give values (`.expect(…)`) or a provider to compare with (`.expect_like(…)`), or a reason why nothing is compared (`.unchecked(…)`)"
    )]
    NoReference,
    /// A benchmark names a provider that it does not have.
    #[error("there is no provider `{name}`; there are {}{}", list(.known), suggestion(.name, .known))]
    NoSuchProvider {
        /// The name.
        name: String,
        /// The providers that there are.
        known: Vec<String>,
    },
    /// Two providers of a measurement have the same name.
    #[error("two providers are called `{name}`")]
    SameName {
        /// The name.
        name: String,
    },
    /// A result is not what it must be.
    #[error(
        "the result of `{provider}` differs from {reference} by {difference:e}, more than the tolerance of {tolerance:e}, so that its time means nothing"
    )]
    Differs {
        /// The provider.
        provider: String,
        /// What it was compared with.
        reference: String,
        /// The largest difference, as a share of the expected value where that is more than 1.
        difference: f64,
        /// What is allowed.
        tolerance: f64,
    },
    /// A benchmark returned without measuring or skipping.
    #[error("it measured nothing: end with `bench.measure()….run()`, or `bench.skip(reason)`")]
    NothingMeasured,
    /// A benchmark measured twice.
    #[error(
        "it measured twice: a benchmark measures once, with as many providers as you like; more are axes or other benchmarks"
    )]
    MeasuredTwice,
    /// A measurement has no provider.
    #[error("a measurement has no provider")]
    NoProvider,
    /// A provider waits for the device while its stream is held back.
    #[error(
        "`{provider}` waits for the device (`synchronize`, `to_vec`, an upload, …), but its stream is held back until all launches are queued: leave that out, or say `.synchronous()`, with which the gaps of launching are part of the time"
    )]
    Waits {
        /// The provider.
        provider: String,
    },
    /// A baseline is not there.
    #[error("there is no baseline `{name}` of `{target}` in {}; there are {}: `--save-baseline {name}` makes one", .folder.display(), list(.known))]
    NoBaseline {
        /// What was asked for.
        name: String,
        /// The bench target.
        target: String,
        /// Where it was looked for.
        folder: PathBuf,
        /// The baselines that there are.
        known: Vec<String>,
    },
    /// A file of a baseline cannot be understood.
    #[error("the baseline `{name}` is damaged: {}: {reason}; `--save-baseline {name}` makes it anew", .path.display())]
    DamagedBaseline {
        /// The baseline.
        name: String,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A baseline is of another device.
    #[error(
        "the baseline `{name}` was measured on {there} as {id}, and this is {here}: times of two devices are not compared, unless `--allow-other-device` says so"
    )]
    OtherDevice {
        /// The baseline.
        name: String,
        /// The id of the device, such as `gpu:0`.
        id: String,
        /// The name of the device of the baseline.
        there: String,
        /// The name of this device.
        here: String,
    },
    /// Criterion did not analyse the samples.
    #[error("criterion could not analyse the samples: {reason}")]
    Analysis {
        /// What it printed.
        reason: String,
    },
    /// A device is not there, or does not work.
    #[error("cannot measure")]
    Device {
        /// What the device says.
        source: gpukernel::Error,
    },
    /// A file cannot be read or written.
    #[error("cannot {doing} {}", .path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}

/// `; did you mean …?`, if a name is close.
fn suggestion(asked: &str, known: &[String]) -> String {
    let close = known.iter().map(|name| (strsim::jaro_winkler(asked, name), name));
    let best = close.filter(|(likeness, _)| *likeness > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, name)| format!("; did you mean `{name}`?")).unwrap_or_default()
}
