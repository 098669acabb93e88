//! `--message-format json`: one JSON object per line, for other programs. The field `reason` says what it is about, as in cargo's messages.
//!
//! The book describes the fields (`docs/src/command-line.md`). Fields may be added; none is renamed or removed.

use std::collections::BTreeSet;

use anyhow::Context;
use clap::ValueEnum;
use gpukernel_build::{
    Arch, Built, Counted, KernelFacts, Limit, OverBudget, PanicPlace, Profile, SourceLine, Step,
};
use serde::Serialize;

use crate::status;

/// The form of what `build` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables
    #[default]
    Human,
    /// One JSON object per line: an image, or a kernel on an architecture
    Json,
}

#[derive(Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message<'a> {
    Image {
        package: &'a str,
        profile: &'a str,
        path: &'a std::path::Path,
        files: &'a [std::path::PathBuf],
        fresh: bool,
        steps: Vec<Timing<'a>>,
    },
    Kernel {
        package: &'a str,
        profile: &'a str,
        kernel: &'a str,
        symbol: &'a str,
        declared_at: Option<&'a SourceLine>,
        arch: Arch,
        registers: Option<u32>,
        stack_bytes: Option<u32>,
        spill_store_bytes: Option<u32>,
        spill_load_bytes: Option<u32>,
        shared_bytes: Option<u32>,
        code_bytes: Option<u64>,
        occupancy: Option<Occupancy<'a>>,
        instructions: Instructions<'a>,
        panics: &'a BTreeSet<PanicPlace>,
    },
    OverBudget {
        package: &'a str,
        kernel: &'a str,
        declared_at: Option<&'a SourceLine>,
        arch: Option<Arch>,
        budget: &'a str,
        found: &'a str,
        lines: &'a [String],
    },
}

#[derive(Serialize)]
struct Occupancy<'a> {
    threads_per_block: u32,
    /// Whether the contract names it.
    block_is_known: bool,
    blocks_per_sm: u32,
    warps_per_sm: u32,
    max_warps_per_sm: u32,
    percent: u32,
    limited_by: &'a [Limit],
}

#[derive(Serialize)]
struct Instructions<'a> {
    counted: Counted,
    f64: u32,
    i64: u32,
    f64_at: &'a [SourceLine],
}

#[derive(Serialize)]
struct Timing<'a> {
    step: &'a str,
    seconds: f64,
}

/// Prints what a build made.
pub(super) fn print(package: &str, profile: Profile, built: &Built) -> anyhow::Result<()> {
    let profile = word(profile);
    let timing = |step: &'_ Step| step.duration.as_secs_f64();
    let steps = built.timings.steps().map(|step| Timing { step: &step.name, seconds: timing(step) });
    line(&Message::Image {
        package,
        profile,
        path: &built.image,
        files: &built.emitted,
        fresh: built.is_fresh,
        steps: steps.collect(),
    })?;
    built.facts.iter().try_for_each(|kernel| of_kernel(package, profile, kernel))
}

fn of_kernel(package: &str, profile: &str, kernel: &KernelFacts) -> anyhow::Result<()> {
    for (arch, facts) in &kernel.archs {
        let resources = facts.resources.as_ref();
        let occupancy = facts.occupancy.as_ref().map(|it| Occupancy {
            threads_per_block: it.threads_per_block,
            block_is_known: facts.block_is_known,
            blocks_per_sm: it.blocks_per_sm,
            warps_per_sm: it.warps_per_sm,
            max_warps_per_sm: it.max_warps_per_sm,
            percent: it.percent(),
            limited_by: &it.limited_by,
        });
        line(&Message::Kernel {
            package,
            profile,
            kernel: &kernel.name,
            symbol: &kernel.symbol,
            declared_at: kernel.declared_at.as_ref(),
            arch: *arch,
            registers: resources.map(|it| it.registers),
            stack_bytes: resources.map(|it| it.stack_bytes),
            spill_store_bytes: resources.map(|it| it.spill_store_bytes),
            spill_load_bytes: resources.map(|it| it.spill_load_bytes),
            shared_bytes: resources.map(|it| it.shared_bytes),
            code_bytes: facts.code_bytes,
            occupancy,
            instructions: Instructions {
                counted: facts.counts.counted,
                f64: facts.counts.f64,
                i64: facts.counts.i64,
                f64_at: &facts.f64_at,
            },
            panics: &kernel.panics,
        })?;
    }
    Ok(())
}

/// Prints which kernels exceed their budgets.
pub(super) fn print_over_budget(package: &str, over: &[OverBudget]) -> anyhow::Result<()> {
    over.iter().try_for_each(|one| {
        line(&Message::OverBudget {
            package,
            kernel: &one.kernel,
            declared_at: one.declared_at.as_ref(),
            arch: one.arch,
            budget: one.budget,
            found: &one.found,
            lines: &one.lines,
        })
    })
}

fn word(profile: Profile) -> &'static str {
    match profile {
        Profile::Dev => "dev",
        Profile::Release => "release",
    }
}

fn line(message: &Message<'_>) -> anyhow::Result<()> {
    let text = serde_json::to_string(message).context("cannot write JSON")?;
    Ok(status::print(format_args!("{text}\n"))?)
}
