//! Running a program for its output.

use std::{
    io::{self, ErrorKind},
    process::{Command, Output, Stdio},
    time::Duration,
};

use super::Refusal;

/// Runs `command` without input and returns what it printed. `arguments` names it in the error.
pub(crate) fn output_of(command: &mut Command, arguments: &'static str) -> Result<String, Refusal> {
    let output = retry_while_busy(command.stdin(Stdio::null())).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Refusal::NotFound,
        _ => Refusal::NotStarted { message: error.to_string() },
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let said = text(&output.stderr);
    let message = if said.is_empty() { output.status.to_string() } else { said };
    Err(Refusal::Failed { arguments, message })
}

/// A program that was just written cannot be started as long as any process still has it open, and a process
/// that another thread is starting has all open files for a moment.
fn retry_while_busy(command: &mut Command) -> io::Result<Output> {
    for _ in 0..100 {
        match command.output() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
    command.output()
}
