//! `cargo gpukernel doctor`: lists every part of the toolchain that builds and runs kernels, found or missing.

use std::{fmt, process::ExitCode};

use gpukernel_build::toolchain::{FindOptions, Part, PartStatus, Report};

use crate::status;

/// List each part of the toolchain, found or missing, and how to install what is missing
///
/// Exits with 0 if kernels can be built, else with 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let report = Report::collect(&FindOptions::new(std::env::current_dir()?));
    if args.json {
        status::print(serde_json::to_string_pretty(&report)? + "\n")?;
    } else {
        status::print(Page(&report))?;
    }
    Ok(if report.can_build { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A report as text.
pub(crate) struct Page<'r>(pub(crate) &'r Report);

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { parts, refused, can_build, .. } = self.0;
        let width = |of: fn(&Part) -> usize| parts.iter().map(of).max().unwrap_or(0);
        let name_width = width(|part| part.name.len());
        let version_width = width(|part| part.version.as_deref().map_or(0, str::len));
        for part in parts {
            let version = part.version.as_deref().unwrap_or_default();
            let name = part.name;
            write!(f, "{:<8}  {name:<name_width$}  {version:<version_width$}  ", word(part.status))?;
            // An error's text can have several lines: they stand below one another.
            let indent = format!("\n{:1$}", "", 8 + 2 + name_width + 2 + version_width + 2);
            let note = part.note.as_deref().unwrap_or_default().replace('\n', &indent);
            match &part.path {
                Some(path) if note.is_empty() => write!(f, "{}", path.display())?,
                Some(path) => write!(f, "{} ({note})", path.display())?,
                None => write!(f, "{note}")?,
            }
            if let Some(fix) = &part.fix {
                write!(f, "{indent}to fix: {fix}")?;
            }
            writeln!(f)?;
        }
        if !refused.is_empty() {
            writeln!(f, "\nFound but not used:")?;
            for reason in refused {
                writeln!(f, "  {reason}")?;
            }
        }
        match can_build {
            true => writeln!(f, "\nKernels can be built."),
            false => writeln!(f, "\nKernels cannot be built yet: parts marked `missing` are required."),
        }
    }
}

fn word(status: PartStatus) -> &'static str {
    match status {
        PartStatus::Ok => "ok",
        PartStatus::Missing => "missing",
        // Its absence is no fault.
        _ => "optional",
    }
}

#[cfg(test)]
mod tests {
    use gpukernel_build::toolchain::Environment;

    use super::*;

    #[test]
    fn a_machine_with_nothing_installed() {
        let dir = tempfile::tempdir().unwrap();
        let environment = Environment::default().with("HOME", dir.path());
        let report = Report::collect(&FindOptions::new(dir.path()).environment(environment));
        let page = Page(&report).to_string();
        let start = "\
missing   device rustc         no rustc 1.96.0 or later with core for nvptx64-nvidia-cuda or rust-src
                               to fix: cargo gpukernel setup
missing   core for nvptx64     comes with a device rustc
                               to fix: cargo gpukernel setup
";
        assert!(page.starts_with(start), "{page}");
        assert!(
            page.ends_with("\nKernels cannot be built yet: parts marked `missing` are required.\n"),
            "{page}"
        );
    }
}
