//! The report that programs write for this command: see `gpukernel_abi::report`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;
use gpukernel_abi::report::{Event, Launch, VARIABLE};
use tempfile::TempDir;

/// A report that a program is asked to write.
pub(crate) struct Report {
    folder: TempDir,
}

impl Report {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("gpukernel-report").tempdir();
        Ok(Self { folder: folder.context("cannot make a temporary folder")? })
    }

    /// The file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("events.json")
    }

    /// A folder for other files of the same run.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Has a program write it.
    pub(crate) fn ask(&self, command: &mut Command) {
        command.env(VARIABLE, self.path());
    }

    /// What the program wrote, as soon as it has ended. A line that it was about to write when it was killed is left out.
    pub(crate) fn events(&self) -> anyhow::Result<Vec<Event>> {
        let text = match fs::read_to_string(self.path()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            text => text.context("cannot read the program's report")?,
        };
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        lines
            .map(|line| {
                serde_json::from_str(line).with_context(|| {
                    format!(
                        "the program reports what this cargo-gpukernel {} does not know: {}; install the version that the program depends on",
                        env!("CARGO_PKG_VERSION"),
                        line.trim()
                    )
                })
            })
            .collect()
    }
}

/// The kernels that were launched, for people.
pub(crate) fn launched(events: &[Event]) -> String {
    let kernels: BTreeSet<_> = launches(events).map(|launch| format!("`{}`", launch.kernel)).collect();
    match kernels.is_empty() {
        true => "no kernel at all".to_owned(),
        false => kernels.into_iter().collect::<Vec<_>>().join(", "),
    }
}

/// The launches among events.
pub(crate) fn launches(events: &[Event]) -> impl Iterator<Item = &Launch> {
    events.iter().filter_map(|event| match event {
        Event::Launch(launch) => Some(launch),
        _ => None,
    })
}
