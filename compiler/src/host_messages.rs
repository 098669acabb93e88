//! What rustc says of a kernel crate when it is compiled for the host: a build script does not repeat it.
//!
//! A program depends on its kernel crate, so that cargo compiles the crate for the host while the build script compiles it for the GPU. Most
//! mistakes are mistakes on both. Which are is found by checking the crate for the host once more, with the rustc and the flags of the
//! program, in a folder of its own because cargo has locked the program's. That happens only after the build for the GPU has failed.

use std::{env, io::BufReader, path::Path, process::Stdio};

use cargo_metadata::{
    DependencyKind, Message,
    diagnostic::{Diagnostic, DiagnosticLevel},
};

use crate::cargo;

/// Returns those of rustc's messages that the build of the package for the host does not have as well; none if there is no error among these.
///
/// `package` is the manifest of the package whose build script this is.
pub(crate) fn without_those_of_host(
    messages: Vec<Diagnostic>,
    package: &Path,
    manifest: &Path,
    target_dir: &Path,
) -> Vec<Diagnostic> {
    if !depends_on(package, manifest).unwrap_or(false) {
        return messages;
    }
    let of_host = check_for_host(manifest, &target_dir.join("host-check"));
    let rest: Vec<_> = messages.into_iter().filter(|message| !is_among(message, &of_host)).collect();
    // Notes on how many errors there were, and how to have them explained, are of no use without errors.
    if rest.iter().any(|message| is_error(message) && !message.spans.is_empty()) { rest } else { Vec::new() }
}

pub(crate) fn is_error(message: &Diagnostic) -> bool {
    matches!(message.level, DiagnosticLevel::Error | DiagnosticLevel::Ice)
}

/// Whether there is a message in the same words about the same place.
pub(crate) fn is_among(message: &Diagnostic, others: &[Diagnostic]) -> bool {
    let places = |message: &Diagnostic| {
        let primary = message.spans.iter().filter(|span| span.is_primary);
        primary.map(|span| (span.file_name.clone(), span.line_start, span.column_start)).collect::<Vec<_>>()
    };
    others.iter().any(|other| message.message == other.message && places(message) == places(other))
}

/// Whether the package always depends on the kernel crate, with no other features than the crate has by default.
fn depends_on(package: &Path, kernels: &Path) -> Option<bool> {
    let package = cargo::package(package)?;
    let kernels = kernels.canonicalize().ok()?;
    Some(package.dependencies.iter().any(|dependency| {
        dependency.kind == DependencyKind::Normal
            && !dependency.optional
            && dependency.target.is_none()
            && dependency.uses_default_features
            && dependency.features.is_empty()
            && dependency.path.as_ref().is_some_and(|path| {
                path.join("Cargo.toml").canonicalize().is_ok_and(|manifest| manifest == kernels)
            })
    }))
}

/// rustc's messages about the crate for the host; none if they cannot be had.
fn check_for_host(manifest: &Path, target_dir: &Path) -> Vec<Diagnostic> {
    let mut command = cargo::command();
    command
        .args(["check", "--lib", "--quiet", "--message-format=json", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(target_dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    // As cargo compiles the program.
    for name in ["RUSTC", "CARGO_ENCODED_RUSTFLAGS"] {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    if env::var_os("PROFILE").is_some_and(|profile| profile == "release") {
        command.arg("--release");
    }
    if let (Some(target), Some(host)) = (env::var_os("TARGET"), env::var_os("HOST"))
        && target != host
    {
        command.arg("--target").arg(target);
    }
    let Ok(mut child) = command.spawn() else { return Vec::new() };
    let mut messages = Vec::new();
    if let Some(output) = child.stdout.take() {
        for message in Message::parse_stream(BufReader::new(output)).flatten() {
            if let Message::CompilerMessage(message) = message {
                messages.push(message.message);
            }
        }
    }
    // Whether it failed is told by its messages.
    let _ = child.wait();
    messages
}
