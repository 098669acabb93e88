//! `cargo gpukernel sanitize`: runs a program or tests under compute-sanitizer, or with the checks of the CPU device, and shows what is found as rustc
//! shows errors.

mod compute_sanitizer;
mod diagnostic;
mod finding;
mod record;

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use annotate_snippets::Renderer;
use anyhow::Context;
use clap::ValueEnum;
use gpukernel_abi::report::Event;
use gpukernel_build::toolchain::{DeveloperTool, FindOptions};
use serde::Serialize;

use self::{
    compute_sanitizer::Run,
    diagnostic::Sources,
    finding::{Finding, Folded, Place, Severity, fold},
};
use crate::{
    commands::build::messages::Format,
    kernels::Kernels,
    program::{self, Ended, Found, Observed, Program},
    report::{Report, launches},
    status,
};

/// Find memory errors, data races and wrong barriers: by compute-sanitizer on a GPU, or by the CPU device
///
/// Exits with 0 if nothing is found, with 3 if something is, and with 4 if nothing is but the program fails by itself.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Check with these tools, one run of the program for each on a GPU; default: memcheck on a GPU, all on the CPU device
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    tool: Vec<Tool>,
    /// Print findings as lines of JSON; what the program prints goes to standard error
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    message_format: Format,
    /// Keep the logs and XML of compute-sanitizer, and the program's report, in this folder
    #[arg(long, value_name = "DIR")]
    keep_logs: Option<PathBuf>,
    /// Pass this option to compute-sanitizer, such as `--sanitizer-option=--leak-check=full`
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    sanitizer_option: Vec<String>,
    #[command(flatten)]
    observed: Observed,
}

/// A tool of compute-sanitizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tool {
    /// Accesses to memory that is not there or misaligned, on the CPU device panics
    Memcheck,
    /// Data races
    Racecheck,
    /// Reads of memory that nothing has written; not on the CPU device
    Initcheck,
    /// Wrong use of barriers
    Synccheck,
    /// All of these
    All,
}

impl Tool {
    const EACH: [Self; 4] = [Self::Memcheck, Self::Racecheck, Self::Initcheck, Self::Synccheck];

    fn name(self) -> &'static str {
        match self {
            Self::Memcheck => "memcheck",
            Self::Racecheck => "racecheck",
            Self::Initcheck => "initcheck",
            Self::Synccheck => "synccheck",
            Self::All => "all",
        }
    }
}

impl Args {
    /// The tools, each once.
    fn tools(&self, is_gpu: bool) -> Vec<Tool> {
        let is_wanted = |tool: &Tool| match self.tool.as_slice() {
            [] if is_gpu => *tool == Tool::Memcheck,
            [] => *tool != Tool::Initcheck,
            wanted => wanted.contains(&Tool::All) || wanted.contains(tool),
        };
        Tool::EACH.into_iter().filter(is_wanted).collect()
    }
}

/// Something was found.
const FOUND: u8 = 3;
/// Nothing was found, and the program failed.
const FAILED: u8 = 4;

/// What one run or all runs of the program gave.
#[derive(Default)]
struct Outcome {
    findings: Vec<Finding>,
    events: Vec<Event>,
    /// How it ended the first time that it failed.
    failure: Option<std::process::ExitStatus>,
    was_interrupted: bool,
}

impl Outcome {
    fn ended(&mut self, ended: &Ended) {
        self.was_interrupted |= ended.was_interrupted;
        if !ended.status.success() {
            self.failure.get_or_insert(ended.status);
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let is_gpu = args.observed.is_on_gpu();
    let tools = args.tools(is_gpu);
    let sanitizer = match is_gpu {
        true => {
            let find = FindOptions::new(std::env::current_dir()?);
            let found = DeveloperTool::ComputeSanitizer.require(&find);
            Some(found.context("kernels cannot be checked on the GPU; `--device cpu` checks them on the CPU, without other programs")?)
        }
        false => {
            anyhow::ensure!(
                tools.iter().any(|tool| *tool != Tool::Initcheck),
                "the CPU device has no initcheck: it does not know which memory was written; run `cargo gpukernel sanitize --tool initcheck` on a \
                 machine with a GPU, or choose another tool"
            );
            None
        }
    };
    if let Some(folder) = &args.keep_logs {
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    let found = args.observed.find(|_, _| ())?;
    let Found { program, folders, .. } = match found {
        Ok(found) => found,
        Err(code) => return Ok(code),
    };
    let mut outcome = Outcome::default();
    match &sanitizer {
        None => on_cpu(args, &program, &tools, &mut outcome)?,
        Some(sanitizer) => {
            let kernels = Kernels::of(&program.executable)?;
            for tool in &tools {
                on_gpu(args, &program, sanitizer, *tool, &kernels, &mut outcome)?;
                if outcome.was_interrupted {
                    break;
                }
            }
        }
    }
    add_launches(&mut outcome);
    show(args, &outcome, &tools, is_gpu, &mut Sources::new(folders))
}

/// Has a command print to standard error if standard output is for JSON.
fn redirect(args: &Args, command: &mut Command) {
    if args.message_format == Format::Json {
        command.stdout(io::stderr());
    }
}

/// One run, with all checks.
fn on_cpu(args: &Args, program: &Program, tools: &[Tool], outcome: &mut Outcome) -> anyhow::Result<()> {
    let report = Report::new()?;
    let mut command = args.observed.command::<&str>(program, &[]);
    command.env("GPUKERNEL_CHECK", "1").env("GPUKERNEL_DEVICE", "cpu");
    report.ask(&mut command);
    redirect(args, &mut command);
    outcome.ended(&program::run(&mut command)?);
    keep(args, &[(report.path(), "report.json")])?;
    outcome.events = report.events()?;
    let is_wanted = |finding: &Finding| match finding.tool.as_str() {
        // A kernel that has panicked was not checked any further.
        "panic" => true,
        name => tools.iter().any(|tool| tool.name() == name),
    };
    outcome.findings = of_runtime(&outcome.events).filter(is_wanted).collect();
    Ok(())
}

/// One run, under one tool.
fn on_gpu(
    args: &Args,
    program: &Program,
    sanitizer: &Path,
    tool: Tool,
    kernels: &Kernels,
    outcome: &mut Outcome,
) -> anyhow::Result<()> {
    let report = Report::new()?;
    let run = Run {
        program: sanitizer,
        tool: tool.name(),
        options: &args.sanitizer_option,
        folder: report.folder(),
    };
    status::step("Checking", format_args!("with {}", tool.name()));
    let mut command = args.observed.command(program, &run.words());
    report.ask(&mut command);
    redirect(args, &mut command);
    let ended = program::run(&mut command)?;
    outcome.ended(&ended);
    let (xml, log, name) = (run.xml(), run.log(), tool.name());
    let kept = [
        (xml.clone(), format!("{name}.xml")),
        (log.clone(), format!("{name}.log")),
        (report.path(), format!("{name}.report.json")),
    ];
    keep(args, &kept)?;
    let text = match fs::read(&xml) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) if outcome.was_interrupted => return Ok(()),
        Err(_) => {
            let log = fs::read_to_string(&log).unwrap_or_default();
            anyhow::bail!(
                "{} did not write what it found ({}){}",
                sanitizer.display(),
                ended.status,
                if log.trim().is_empty() { String::new() } else { format!("; it says:\n{}", log.trim()) }
            );
        }
    };
    let (findings, is_cut_off) = compute_sanitizer::findings(&text, name, kernels)?;
    if is_cut_off {
        status::warn(format_args!("{name} was ended before it had written all that it found"));
    }
    outcome.findings.extend(findings);
    let events = report.events()?;
    // Each run sees the same panics.
    if outcome.events.is_empty() {
        outcome.findings.extend(of_runtime(&events));
        outcome.events = events;
    }
    Ok(())
}

/// What the runtime found by itself.
fn of_runtime(events: &[Event]) -> impl Iterator<Item = Finding> {
    events.iter().filter_map(|event| match event {
        Event::Finding(finding) => Some(Finding::from(finding)),
        _ => None,
    })
}

/// Says of findings where their kernels are launched, if there is one place.
fn add_launches(outcome: &mut Outcome) {
    let mut places: HashMap<&str, Option<Place>> = HashMap::new();
    for launch in launches(&outcome.events) {
        let place = Place::from(&launch.launched_at);
        let known = places.entry(&launch.kernel).or_insert_with(|| Some(place.clone()));
        if known.as_ref() != Some(&place) {
            *known = None;
        }
    }
    for finding in outcome.findings.iter_mut().filter(|finding| finding.launched_at.is_none()) {
        finding.launched_at = finding.kernel.as_deref().and_then(|kernel| places.get(kernel)?.clone());
    }
}

/// Copies files to where the user wants them; those that were not written are left out.
fn keep<N: AsRef<Path>>(args: &Args, files: &[(PathBuf, N)]) -> anyhow::Result<()> {
    let Some(folder) = &args.keep_logs else { return Ok(()) };
    for (file, name) in files.iter().filter(|(file, _)| file.exists()) {
        let to = folder.join(name);
        fs::copy(file, &to).with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(())
}

/// The last line of JSON.
#[derive(Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message<'a> {
    Finding(&'a Folded),
    SanitizeFinished {
        tools: Vec<&'static str>,
        /// Kernels that were launched, each once.
        kernels: usize,
        errors: usize,
        warnings: usize,
        program_succeeded: bool,
    },
}

fn show(
    args: &Args,
    outcome: &Outcome,
    tools: &[Tool],
    is_gpu: bool,
    sources: &mut Sources,
) -> anyhow::Result<ExitCode> {
    let mut kernels: Vec<&str> = launches(&outcome.events).map(|launch| launch.kernel.as_str()).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let folded = fold(outcome.findings.clone());
    let count = |severity| folded.iter().filter(|one| one.finding.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let names: Vec<_> =
        tools.iter().filter(|tool| is_gpu || **tool != Tool::Initcheck).map(|tool| tool.name()).collect();
    match args.message_format {
        Format::Json => {
            let finished = Message::SanitizeFinished {
                tools: names,
                kernels: kernels.len(),
                errors,
                warnings,
                program_succeeded: outcome.failure.is_none(),
            };
            for message in folded.iter().map(Message::Finding).chain([finished]) {
                let line = serde_json::to_string(&message).context("cannot write JSON")?;
                status::print(format_args!("{line}\n"))?;
            }
        }
        Format::Human => {
            let renderer = Renderer::styled();
            for one in &folded {
                anstream::eprintln!("{}\n", sources.render(one, &renderer));
            }
            if !is_gpu && tools.contains(&Tool::Initcheck) {
                status::warn(
                    "the CPU device has no initcheck, so memory that nothing has written was not looked for",
                );
            }
            if kernels.is_empty() && !outcome.was_interrupted {
                status::warn("the program launched no kernel, so nothing was checked");
            }
            let what =
                |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
            let summary = match (errors, warnings) {
                (0, 0) => "no findings".to_owned(),
                (errors, 0) => what(errors, "error"),
                (0, warnings) => what(warnings, "warning"),
                (errors, warnings) => format!("{}, {}", what(errors, "error"), what(warnings, "warning")),
            };
            status::note(
                "Sanitized",
                format_args!("{} by {}: {summary}", what(kernels.len(), "kernel"), names.join(", ")),
            );
        }
    }
    if outcome.was_interrupted {
        return Ok(ExitCode::from(130));
    }
    match (&outcome.failure, folded.is_empty()) {
        (_, false) => Ok(ExitCode::from(FOUND)),
        (Some(status), true) => {
            let error =
                anyhow::anyhow!("the program failed by itself ({status}); its kernels have no findings");
            status::error(&error);
            Ok(ExitCode::from(FAILED))
        }
        (None, true) => Ok(ExitCode::SUCCESS),
    }
}
