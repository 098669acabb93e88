//! The runs before this one: a line of JSON for each, in `history.jsonl`.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{Interval, Report};

/// What is kept of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) started: String,
    pub(crate) commit: Option<String>,
    pub(crate) times: Vec<Time>,
}

/// A median with its confidence interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Time {
    /// The row's name.
    pub(crate) row: String,
    /// The name of the device's hardware.
    pub(crate) device: String,
    pub(crate) provider: String,
    pub(crate) mode: String,
    pub(crate) time_ns: Interval,
}

impl Entry {
    pub(crate) fn of(report: &Report) -> Self {
        let mut times = Vec::new();
        for row in &report.rows {
            for provider in &row.providers {
                let device = report.device(&provider.device).map_or("", |device| &device.name);
                times.extend(provider.modes.iter().map(|mode| Time {
                    row: row.name(),
                    device: device.to_owned(),
                    provider: provider.name.clone(),
                    mode: mode.mode.clone(),
                    time_ns: mode.time_ns,
                }));
            }
        }
        Self { started: report.started.clone(), commit: report.commit.clone(), times }
    }
}

/// The runs in the file, oldest first. Lines that a killed run left unfinished are passed over.
pub(crate) fn read(path: &Path) -> io::Result<Vec<Entry>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Adds a run, with one call of the system, so that runs at the same time do not mix their lines.
pub(crate) fn append(path: &Path, entry: &Entry) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut line = serde_json::to_string(entry)?;
    line.push('\n');
    OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_come_back_in_order_and_half_a_line_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        assert!(read(&path).unwrap().is_empty());
        let entry = |started: &str| Entry { started: started.to_owned(), commit: None, times: Vec::new() };
        append(&path, &entry("1")).unwrap();
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"started\":\"hal\n").unwrap();
        append(&path, &entry("2")).unwrap();
        assert_eq!(read(&path).unwrap(), [entry("1"), entry("2")]);
    }
}
