//! Child: a program that fetches something, watched so that it can be shown and does not hang for ever.

use std::{
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::toolchain::{Event, Progress};

/// How to watch a program.
pub(super) struct Watch<'a> {
    /// The folder that it writes to.
    pub(super) directory: &'a Path,
    /// How long that folder may stay as it is.
    pub(super) patience: Duration,
    /// Whom to tell how much is in that folder.
    pub(super) progress: Progress<'a>,
}

impl Watch<'_> {
    /// Runs `command` to its end, or kills it when nothing happens for too long. The error is what it said.
    pub(super) fn run(&self, command: &mut Command) -> Result<(), String> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{program} cannot be started: {error}"))?;
        let mut stderr = child.stderr.take();
        let said = thread::spawn(move || {
            let mut text = Vec::new();
            // A broken pipe ends the text, as the end of the program does.
            let _ = stderr.as_mut().map(|stderr| stderr.read_to_end(&mut text));
            String::from_utf8_lossy(&text).trim().to_owned()
        });
        let before = size_of(self.directory);
        let mut seen = (before, Instant::now());
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| format!("{program}: {error}"))? {
                break status;
            }
            let size = size_of(self.directory);
            if size != seen.0 {
                seen = (size, Instant::now());
                self.progress.tell(Event::At { bytes: size.saturating_sub(before) });
            }
            if seen.1.elapsed() > self.patience {
                // It may end by itself at this moment, which is as good.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{program} made no progress for {} s", self.patience.as_secs()));
            }
            thread::sleep(Duration::from_millis(100));
        };
        let said = said.join().unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        Err(if said.is_empty() { format!("{program}: {status}") } else { last_lines(&said) })
    }
}

/// The last lines, which hold the error. What rustup adds below it, a backtrace, does not count.
fn last_lines(said: &str) -> String {
    let said = said.split("\nStack backtrace:").next().unwrap_or(said);
    let lines: Vec<_> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

/// How many bytes are in a folder and the folders in it.
fn size_of(directory: &Path) -> u64 {
    let mut total = 0;
    let mut open: Vec<PathBuf> = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok) {
            match entry.metadata() {
                Ok(data) if data.is_dir() => open.push(entry.path()),
                Ok(data) => total += data.len(),
                Err(_) => {}
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, patience: Duration) -> Result<(), String> {
        let dir = tempfile::tempdir().unwrap();
        let watch = Watch { directory: dir.path(), patience, progress: Progress::silent() };
        watch.run(Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn the_error_is_what_it_said_last() {
        let long = Duration::from_secs(60);
        assert_eq!(run("exit 0", long), Ok(()));
        let error = run("echo info: syncing >&2; echo error: no such host >&2; exit 1", long).unwrap_err();
        assert_eq!(error, "info: syncing\nerror: no such host");
        assert_eq!(run("exit 3", long).unwrap_err(), "sh: exit status: 3");
        assert_eq!(last_lines("error: a\n\n\nStack backtrace:\n   0: b"), "error: a");
    }

    #[test]
    fn one_that_does_nothing_is_stopped() {
        assert_eq!(run("exec sleep 60", Duration::ZERO).unwrap_err(), "sh made no progress for 0 s");
    }

    #[test]
    fn a_program_that_is_not_there() {
        let watch = Watch {
            directory: Path::new("/nowhere"),
            patience: Duration::ZERO,
            progress: Progress::silent(),
        };
        let error = watch.run(&mut Command::new("/nowhere/apt-get")).unwrap_err();
        assert!(error.starts_with("/nowhere/apt-get cannot be started"), "{error}");
    }
}
