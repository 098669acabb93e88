//! rustc's errors, as cargo's JSON messages give them (The Cargo Book, "External tools: JSON messages").

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

use crate::{Lines, project};

#[derive(Deserialize)]
struct Message {
    target: Target,
    message: Diagnostic,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    spans: Vec<Span>,
    /// Notes.
    children: Vec<Diagnostic>,
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: usize,
    line_end: usize,
    is_primary: bool,
    expansion: Option<Box<Expansion>>,
}

#[derive(Deserialize)]
struct Expansion {
    span: Span,
}

/// Compiles the programs and returns the lines of the errors of each.
pub(crate) fn error_lines(manifest: &Path, programs: Vec<PathBuf>) -> BTreeMap<PathBuf, Lines> {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["check", "--bins", "--keep-going", "--message-format=json", "--manifest-path"])
        .arg(manifest)
        .env("CARGO_TARGET_DIR", manifest.with_file_name("target"))
        // Attacks do not depend on lints, and device code is not built here.
        .env("RUSTFLAGS", "--cap-lints=allow")
        .output()
        .expect("cargo, which built this, runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let mut lines: BTreeMap<_, _> = programs.into_iter().map(|program| (program, Lines::new())).collect();
    let mut failed = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        // Other messages have no diagnostic.
        let Ok(Message { target, message }) = serde_json::from_str(line) else { continue };
        // Where a constant that cannot be evaluated is used is in a note of its own behind the error.
        if message.level != "error" && message.level != "note" {
            continue;
        }
        match lines.iter_mut().find(|(program, _)| project::name(program) == target.name) {
            Some((program, lines)) => {
                let notes = message.children.iter().flat_map(|note| &note.spans);
                let spans = message.spans.iter().chain(notes).filter(|span| span.is_primary);
                lines.extend(spans.filter_map(|span| place(span, program)).flatten());
            }
            None => failed.extend(message.rendered),
        }
    }
    assert!(failed.is_empty(), "what the programs depend on does not compile:\n{}", failed.join("\n"));
    assert!(!output.status.success(), "cargo accepts every program:\n{stderr}");
    lines
}

/// The lines of a span in the program: where the macro is called, if the span is in one.
fn place(span: &Span, program: &Path) -> Option<std::ops::RangeInclusive<usize>> {
    if program.ends_with(&span.file_name) || Path::new(&span.file_name) == program {
        return Some(span.line_start..=span.line_end);
    }
    place(&span.expansion.as_ref()?.span, program)
}
