//! Running a program for its output.

use std::process::{Command, Stdio};

use super::Refusal;

/// Runs `command` without input and returns what it printed. `arguments` names it in the error.
pub(crate) fn output_of(command: &mut Command, arguments: &'static str) -> Result<String, Refusal> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Refusal::NotFound,
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
