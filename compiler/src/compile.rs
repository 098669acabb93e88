//! Compiling: a kernel crate goes in, the libraries of its whole dependency graph come out, their members LLVM bitcode.
//!
//! cargo builds the crate as it is, an ordinary library, for `nvptx64-nvidia-cuda` with the device rustc. No linker runs.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, BufReader, IsTerminal},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use cargo_metadata::{Message, Package, TargetKind, diagnostic::Diagnostic};

use crate::{
    Options, Profile, cargo, dep_info,
    dependency::Wrapper,
    host_messages::{is_among, is_error, without_those_of_host},
    toolchain::{DEVICE_TARGET, DeviceRustc},
};

/// The profile of dev builds, as cargo shows it.
const DEV_PROFILE: &str = "dev-kernels";

/// What is compiled and where to.
pub(crate) struct CompileInput<'a> {
    /// The `Cargo.toml` of the kernel crate.
    pub(crate) manifest: &'a Path,
    /// cargo's target directory for device code: of its own, because cargo locks it.
    pub(crate) target_dir: &'a Path,
    pub(crate) rustc: &'a DeviceRustc,
    pub(crate) options: &'a Options,
    /// The manifest of the package whose build script this is: what rustc says to its build for the host is not said again.
    pub(crate) host_package: Option<&'a Path>,
    /// The workspace in which it is compiled, if that is not its own.
    pub(crate) wrapper: Option<&'a Wrapper>,
}

/// What came out.
pub(crate) struct Compiled {
    /// The name of the kernel crate as rustc knows it.
    pub(crate) crate_name: String,
    /// The libraries of the kernel crate and its dependencies.
    pub(crate) libraries: Vec<PathBuf>,
    /// The files that the crate and its local dependencies were compiled from.
    pub(crate) sources: Vec<PathBuf>,
    /// The folder of gpu-std.
    pub(crate) gpu_std: Option<PathBuf>,
}

/// Compiling failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// cargo cannot be started.
    #[error("cannot run {}: {reason}", program.display())]
    Cargo {
        /// The program.
        program: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// There is no `Cargo.toml` there.
    #[error("there is no kernel crate at {}: the path leads to no Cargo.toml", .0.display())]
    NoCrate(PathBuf),
    /// The crate does not compile; rustc has said why on the error stream.
    #[error("the kernel crate {} does not compile for the GPU; see the messages above", .0.display())]
    Rejected(PathBuf),
    /// The crate depends on another project's package `gpu-std`.
    #[error(
        "the kernel crate {} depends on the package `gpu-std`, which belongs to another project: write `gpukernel-std` in its place \
         (in Rust, the library is `gpu_std`)",
        .0.display()
    )]
    OtherGpuStd(PathBuf),
    /// The crate does not compile for the host either; rustc says why there.
    #[error(
        "the kernel crate {} does not compile, for the GPU as for the host: see rustc's messages about the host's build of it",
        .0.display()
    )]
    RejectedForHost(PathBuf),
    /// cargo built no library of the crate.
    #[error("{} is no library crate: a kernel crate has a src/lib.rs and no crate-type but `lib`", .0.display())]
    NoLibrary(PathBuf),
    /// cargo's messages cannot be read.
    #[error("cannot read cargo's messages: {0}")]
    Messages(std::io::Error),
}

/// Compiles the crate. rustc's messages go to the error stream, but for those that the host's build of the crate has as well.
pub(crate) fn compile(input: &CompileInput<'_>) -> Result<Compiled, CompileError> {
    let mut command = build(input);
    let failed_to_run = |reason| CompileError::Cargo { program: PathBuf::from(cargo::program()), reason };
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed_to_run)?;
    let (mut artifacts, mut messages) = (Vec::new(), Vec::new());
    if let Some(output) = child.stdout.take() {
        for message in Message::parse_stream(BufReader::new(output)) {
            match message.map_err(CompileError::Messages)? {
                Message::CompilerArtifact(artifact) => artifacts.push(artifact),
                // rustc says of a parameter what it says wherever a macro uses it.
                Message::CompilerMessage(message) if !is_among(&message.message, &messages) => {
                    if input.host_package.is_none() {
                        show(&message.message);
                    }
                    messages.push(message.message);
                }
                _ => {}
            }
        }
    }
    let succeeded = child.wait().map_err(failed_to_run)?.success();
    let mut is_told_by_host = false;
    if let Some(package) = input.host_package {
        if !succeeded && !messages.is_empty() {
            messages = without_those_of_host(messages, package, input.manifest, input.target_dir);
            is_told_by_host = messages.is_empty();
        }
        // Warnings about a package of somebody else are not for its users, as for the host.
        let is_shown = |message: &&Diagnostic| input.wrapper.is_none() || is_error(message);
        messages.iter().filter(is_shown).for_each(show);
    }
    if !succeeded {
        let manifest = input.manifest.to_owned();
        let package = cargo::package(input.manifest);
        return Err(match package.as_ref().map(is_library) {
            // What rustc says about the target of another kind of crate leads nowhere.
            Some(false) => CompileError::NoLibrary(manifest),
            _ if package.is_some_and(|package| depends_on_other_gpu_std(&package)) => {
                CompileError::OtherGpuStd(manifest)
            }
            _ if is_told_by_host => CompileError::RejectedForHost(manifest),
            _ => CompileError::Rejected(manifest),
        });
    }

    // Build scripts and macros are built for the host, beside the target's own folder.
    let device_dir = input.target_dir.join(DEVICE_TARGET);
    let libraries = artifacts
        .iter()
        .flat_map(|artifact| &artifact.filenames)
        .filter(|file| file.extension() == Some("rlib") && file.as_std_path().starts_with(&device_dir));
    let mut libraries: Vec<_> = libraries.map(|file| file.clone().into_std_path_buf()).collect();
    // cargo names them in the order in which it is done with them, and the same crate is to give the same image.
    libraries.sort();

    let manifest = input.manifest.canonicalize().unwrap_or_else(|_| input.manifest.to_owned());
    let own = artifacts.iter().find(|artifact| {
        artifact.manifest_path.as_std_path().canonicalize().is_ok_and(|path| path == manifest)
            && artifact.filenames.iter().any(|file| file.extension() == Some("rlib"))
    });
    let own = own.ok_or_else(|| CompileError::NoLibrary(input.manifest.to_owned()))?;
    let dep_info = own.filenames.iter().find(|file| file.extension() == Some("rlib"));
    let mut sources = vec![manifest];
    if let Some(text) = dep_info.and_then(|file| fs::read_to_string(file.with_extension("d")).ok()) {
        sources.extend(dep_info::sources(&text));
    }
    let gpu_std = artifacts.iter().find(|artifact| artifact.target.name == "gpu_std");
    let gpu_std = gpu_std.and_then(|artifact| artifact.manifest_path.parent());
    Ok(Compiled {
        crate_name: own.target.name.replace('-', "_"),
        libraries,
        sources,
        gpu_std: gpu_std.map(|folder| folder.as_std_path().to_owned()),
    })
}

/// Whether the package has a library and that is an ordinary one.
fn is_library(package: &Package) -> bool {
    let ordinary = |kind: &TargetKind| matches!(kind, TargetKind::Lib | TargetKind::RLib);
    package.targets.iter().any(|target| target.kind.iter().all(ordinary))
}

/// Whether the package depends on the `gpu-std` of crates.io, as one writes who goes by the name of the library.
fn depends_on_other_gpu_std(package: &Package) -> bool {
    package.dependencies.iter().any(|dependency| dependency.name == "gpu-std")
}

fn show(message: &Diagnostic) {
    // On a terminal, cargo's progress stands in the line.
    let clear = if io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    eprint!("{clear}{}", message.rendered.as_deref().unwrap_or(&message.message));
}

/// Whether messages are shown in colours: as chosen, or else as cargo decides it.
fn has_colors(chosen: Option<bool>) -> bool {
    let is_terminal = || io::stderr().is_terminal();
    chosen.unwrap_or_else(|| colors(|name| env::var(name).ok(), is_terminal))
}

fn colors(variable: impl Fn(&str) -> Option<String>, is_terminal: impl Fn() -> bool) -> bool {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    match variable("CARGO_TERM_COLOR").as_deref() {
        Some("always") => true,
        Some("never") => false,
        // https://no-color.org and https://bixense.com/clicolors
        _ if is_set("NO_COLOR") => false,
        _ if is_set("CLICOLOR_FORCE") && variable("CLICOLOR_FORCE").as_deref() != Some("0") => true,
        _ => is_terminal(),
    }
}

fn build(input: &CompileInput<'_>) -> Command {
    let mut command = cargo::command();
    command
        .args(["build", "--lib", "--target", DEVICE_TARGET])
        .arg(if has_colors(input.options.cargo.color) {
            "--message-format=json-diagnostic-rendered-ansi"
        } else {
            "--message-format=json"
        })
        .arg("--manifest-path")
        .arg(input.wrapper.map_or(input.manifest, |wrapper| &wrapper.manifest))
        .arg("--target-dir")
        .arg(input.target_dir)
        .env("RUSTC", &input.rustc.path)
        // The profile is ours, whatever the user's host code is built with. More debug info than lines would switch
        // ptxas's optimiser off; one unit is what the linker would make of several anyway.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "line-directives-only")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .env("CARGO_PROFILE_RELEASE_STRIP", "none")
        // Macros run for a moment and take seconds to build: what they are built with is not what kernels are.
        .env("CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_DEBUG", "false")
        .env("CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_OVERFLOW_CHECKS", "false")
        .env("CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_DEBUG_ASSERTIONS", "false");
    // Dev builds have a profile of their own, so that cargo does not say that it has built the `release` profile: the same but for
    // the checks. cargo keeps what it builds with either apart, so that both kinds can take turns.
    let (profile, checks) = match input.options.profile {
        Profile::Dev => (DEV_PROFILE, "true"),
        Profile::Release => ("release", "false"),
    };
    command
        .arg("--profile")
        .arg(profile)
        .arg("--config")
        .arg(format!("profile.{DEV_PROFILE}.inherits='release'"))
        .env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", checks)
        .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", checks);
    command.args(input.options.cargo.arguments());
    match input.wrapper {
        // Its manifest says which features there are.
        Some(wrapper) => {
            command.args(["--package", &wrapper.package]).current_dir(&wrapper.dir);
        }
        None => {
            command.args((!input.options.default_features).then_some("--no-default-features"));
            if !input.options.features.is_empty() {
                command.arg("--features").arg(input.options.features.join(","));
            }
        }
    }
    // The optimiser runs once, when everything is linked and the contracts are known: what it did before, on each crate alone
    // and for a CPU's idea of cheap, it could not take back.
    //
    // Formatters of messages are known by their names. In those that rustc 1.96 gives by itself types have lost their
    // parameters, and for this target are written so that they cannot be read back (`core$$fmt$$Debug`).
    let mut flags = OsString::from("-Cno-prepopulate-passes\x1f-Csymbol-mangling-version=v0");
    if let Some(sysroot) = &input.rustc.sysroot {
        flags.push("\x1f--sysroot\x1f");
        flags.push(sysroot);
    }
    command.env("CARGO_ENCODED_RUSTFLAGS", flags);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_as_variables_say_or_else_for_terminals() {
        let with = |variables: &[(&str, &str)], is_terminal| {
            let variable = |wanted: &str| {
                variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned())
            };
            colors(variable, || is_terminal)
        };
        assert!(with(&[], true) && !with(&[], false));
        assert!(!with(&[("NO_COLOR", "1")], true) && with(&[("NO_COLOR", "")], true));
        assert!(with(&[("CLICOLOR_FORCE", "1")], false) && !with(&[("CLICOLOR_FORCE", "0")], false));
        assert!(with(&[("CARGO_TERM_COLOR", "always"), ("NO_COLOR", "1")], false));
        assert!(!with(&[("CARGO_TERM_COLOR", "never"), ("CLICOLOR_FORCE", "1")], true));
    }
}
