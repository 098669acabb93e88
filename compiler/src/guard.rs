//! The environment of a build: isolation of the nested cargo from the outer one, and detection of tools that need no device code.

use std::{env, fs, os::unix::process::parent_id, process::Command};

/// Set in the nested cargo, to detect a kernel crate whose build script builds kernels.
const NESTED: &str = "GPUKERNEL_NESTED_BUILD";

/// Whether this process runs inside a build of kernels.
pub(crate) fn is_nested() -> bool {
    env::var_os(NESTED).is_some()
}

/// Whether this build script runs for a tool that only analyses code (clippy, rust-analyzer, docs.rs), or with
/// `GPUKERNEL_NO_DEVICE_CODE` set. [`Builder`](crate::Builder) then writes an image without code; other build scripts can skip
/// building device code too.
///
/// ```
/// if gpukernel_build::needs_no_device_code() {
///     println!("no need to run nvcc");
/// }
/// ```
pub fn needs_no_device_code() -> bool {
    needs_no_code().is_some()
}

/// The variables that determine the result of [`needs_no_code`]: a build script that ran under clippy must run again under cargo.
pub(crate) const DECIDING_VARIABLES: [&str; 4] =
    ["DOCS_RS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "GPUKERNEL_NO_DEVICE_CODE"];

/// The reason why this run needs no device code, such as the tool; `None` if it needs some.
pub(crate) fn needs_no_code() -> Option<String> {
    reason(|name| env::var(name).ok())
}

fn reason(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    if variable("DOCS_RS").is_some() {
        return Some("it was built by docs.rs".into());
    }
    if variable("GPUKERNEL_NO_DEVICE_CODE").is_some_and(|value| !value.is_empty() && value != "0") {
        return Some("it was built with GPUKERNEL_NO_DEVICE_CODE set".into());
    }
    for name in ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"] {
        let wrapper = variable(name).unwrap_or_default();
        for tool in ["clippy-driver", "rust-analyzer"] {
            if wrapper.contains(tool) {
                return Some(format!("it was built by {tool}"));
            }
        }
    }
    None
}

/// The command of the cargo that runs this build script, if it runs no program: cargo does not tell build scripts of it.
///
/// Where there is no toolchain for kernels, such a command goes on without their code. What it leaves is not for others: a build script that ran for
/// it has to run again.
pub(crate) fn checking_command() -> Option<String> {
    let line = fs::read(format!("/proc/{}/cmdline", parent_id())).ok()?;
    let words: Vec<_> =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    command_in(&words).filter(|command| CHECKING.contains(command)).map(str::to_owned)
}

/// Commands of cargo after which there is no program, with their short names.
const CHECKING: [&str; 6] = ["check", "c", "clippy", "doc", "d", "fix"];

/// The command in a command line of cargo.
fn command_in(words: &[String]) -> Option<&str> {
    let mut words = words.iter().skip(1).map(String::as_str);
    loop {
        match words.next()? {
            // Options with a value in the next word, which may stand before the command.
            "--config" | "-C" | "-Z" | "--color" => drop(words.next()),
            word if word.starts_with(['-', '+']) => {}
            command => return Some(command),
        }
    }
}

/// Removes the environment variables by which an outer cargo would affect the nested one.
pub(crate) fn clean_environment(command: &mut Command) {
    for (name, _) in env::vars_os() {
        let Some(text) = name.to_str() else { continue };
        let of_the_outer_build = text.starts_with("CARGO_CFG_")
            || text.starts_with("CARGO_FEATURE_")
            || text.starts_with("CARGO_PKG_")
            || text.starts_with("CARGO_PROFILE_")
            || text.starts_with("CARGO_BUILD_")
            || text.starts_with("CARGO_TARGET_")
            || text.starts_with("CARGO_UNSTABLE_")
            || text.starts_with("RUSTC")
            || text.starts_with("DEP_")
            || [
                "CARGO_ENCODED_RUSTFLAGS",
                "CARGO_MANIFEST_DIR",
                "CARGO_MANIFEST_PATH",
                "CARGO_MANIFEST_LINKS",
                "CARGO_MAKEFLAGS",
                "CARGO_PRIMARY_PACKAGE",
                "MAKEFLAGS",
                "MFLAGS",
                "RUSTFLAGS",
                "RUSTDOC",
                "RUSTDOCFLAGS",
                "OUT_DIR",
                "TARGET",
                "HOST",
                "PROFILE",
                "DEBUG",
                "OPT_LEVEL",
                "NUM_JOBS",
            ]
            .contains(&text);
        if of_the_outer_build {
            command.env_remove(&name);
        }
    }
    command.env(NESTED, "1");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_cargo_is_the_first_word_that_is_no_option() {
        let of = |line: &str| {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            command_in(&words).map(str::to_owned)
        };
        assert_eq!(of("cargo check --workspace"), Some("check".to_owned()));
        assert_eq!(of("/x/cargo --config a=1 -Zx -q --color=never -C check d"), Some("d".to_owned()));
        assert_eq!(of("cargo --color check build"), Some("build".to_owned()));
        assert_eq!(of("cargo --version"), None);
    }

    #[test]
    fn knows_the_tools_that_need_no_code() {
        let with = |key: &'static str, value: &'static str| {
            reason(move |name| (name == key).then(|| value.to_owned()))
        };
        assert!(with("DOCS_RS", "1").is_some());
        assert!(with("RUSTC_WORKSPACE_WRAPPER", "/x/bin/clippy-driver").is_some());
        assert!(with("RUSTC_WRAPPER", "/x/rust-analyzer").is_some());
        assert!(with("GPUKERNEL_NO_DEVICE_CODE", "1").is_some());
        assert!(with("GPUKERNEL_NO_DEVICE_CODE", "0").is_none());
        assert!(with("RUSTC_WRAPPER", "/usr/bin/sccache").is_none());
        assert!(with("OTHER", "clippy-driver").is_none());
    }
}
