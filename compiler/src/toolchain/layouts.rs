//! Checks what gpukernel reads of rustc's own ([`gpukernel_abi::rustc`]): once per device rustc, by a program that it compiles.
//!
//! The runtime reads `Location`s and `Arguments` of panics in the GPU's memory. Rust does not promise their layouts, and a rustc that lays them
//! out in another way would make it read anything.

use std::{
    fmt::Write,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use gpukernel_abi::rustc;
use sha2::{Digest, Sha256};

use super::{Cache, DeviceRustc, FindOptions, ToolchainError, libllvm::driver_libraries};

/// The program; the constants that it uses are put in front of it.
const PROGRAM: &str = include_str!("layouts/check.rs");

/// Checks this rustc, if it was not checked before.
///
/// # Errors
/// It lays something out in another way, or the program cannot be compiled and run.
pub(super) fn ensure(rustc: &DeviceRustc, options: &FindOptions<'_>) -> Result<(), ToolchainError> {
    let cache = Cache::locate(&options.environment)?;
    let program = format!("{}{PROGRAM}", constants());
    let name = format!("{}-{}", rustc.version, key(rustc, &program));
    let checked = cache.dir("layouts").join(&name);
    if checked.is_file() {
        return Ok(());
    }
    let dir = cache.make_dir("layouts")?;
    let _lock = cache.lock(&format!("layouts-{name}"), &options.progress)?;
    if checked.is_file() {
        return Ok(());
    }
    let unfinished = dir.join(format!(".tmp-{name}"));
    // Under the lock, what is there was left by interrupted work.
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(|error| ToolchainError::io("remove", &unfinished, error))?;
    }
    fs::create_dir(&unfinished).map_err(|error| ToolchainError::io("create", &unfinished, error))?;
    let result = run(rustc, &program, &unfinished);
    fs::remove_dir_all(&unfinished).map_err(|error| ToolchainError::io("remove", &unfinished, error))?;
    result?;
    fs::write(&checked, "").map_err(|error| ToolchainError::io("write", &checked, error))
}

/// What the result depends on.
fn key(rustc: &DeviceRustc, program: &str) -> String {
    let mut hash = Sha256::new();
    for part in [program, &rustc.verbose_version] {
        hash.update(part);
        hash.update([0]);
    }
    for name in driver_libraries(&rustc.libllvm.path) {
        hash.update(name.as_encoded_bytes());
    }
    hash.finalize().iter().take(8).fold(String::new(), |mut key, byte| {
        // Writing to a `String` does not fail.
        let _ = write!(key, "{byte:02x}");
        key
    })
}

/// The layouts as modules of the program.
fn constants() -> String {
    let module = |name: &str, offsets: &[(&str, usize)]| {
        let lines: Vec<_> =
            offsets.iter().map(|(name, value)| format!("    pub const {name}: usize = {value};\n")).collect();
        format!("mod {name} {{\n{}}}\n", lines.concat())
    };
    use rustc::{argument, arguments, location, table};
    [
        module(
            "location",
            &[
                ("BYTES", location::BYTES),
                ("FILE", location::FILE),
                ("FILE_BYTES", location::FILE_BYTES),
                ("LINE", location::LINE),
                ("COLUMN", location::COLUMN),
            ],
        ),
        module(
            "arguments",
            &[
                ("BYTES", arguments::BYTES),
                ("TEMPLATE", arguments::TEMPLATE),
                ("ARGUMENTS", arguments::ARGUMENTS),
            ],
        ),
        module(
            "argument",
            &[("BYTES", argument::BYTES), ("VALUE", argument::VALUE), ("FORMATTER", argument::FORMATTER)],
        ),
        module("table", &[("FORMATTER", table::FORMATTER)]),
    ]
    .concat()
}

/// Compiles and runs the program in this folder.
fn run(rustc: &DeviceRustc, program: &str, dir: &Path) -> Result<(), ToolchainError> {
    let failed = |message: String| ToolchainError::LayoutsNotChecked { rustc: rustc.path.clone(), message };
    let (source, executable) = (dir.join("check.rs"), dir.join("check"));
    fs::write(&source, program).map_err(|error| failed(error.to_string()))?;
    let mut compile = Command::new(&rustc.path);
    // One unit, so that a function has one address.
    compile.args(["--edition=2024", "-Ccodegen-units=1", "-Awarnings", "-o"]).arg(&executable).arg(&source);
    let compiled = compile.current_dir(dir).stdin(Stdio::null()).output();
    let compiled = compiled.map_err(|error| failed(error.to_string()))?;
    if !compiled.status.success() {
        return Err(failed(String::from_utf8_lossy(&compiled.stderr).trim_end().to_owned()));
    }
    let ran = Command::new(&executable).stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| failed(error.to_string()))?;
    let said = String::from_utf8_lossy(&ran.stdout).trim_end().to_owned();
    match ran.status.code() {
        Some(0) => Ok(()),
        Some(1) if !said.is_empty() => Err(ToolchainError::OtherLayout {
            rustc: rustc.path.clone(),
            version: rustc.version.clone(),
            what: said,
        }),
        _ => Err(failed(format!("{}\n{}", ran.status, String::from_utf8_lossy(&ran.stderr).trim_end()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::Toolchain;

    fn device_rustc() -> DeviceRustc {
        Toolchain::find(&FindOptions::new(".")).unwrap().rustc
    }

    #[test]
    fn the_device_rustc_lays_out_what_is_read_as_it_is_read() {
        let dir = tempfile::tempdir().unwrap();
        run(&device_rustc(), &format!("{}{PROGRAM}", constants()), dir.path()).unwrap();
    }

    #[test]
    fn each_other_layout_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let rustc = device_rustc();
        let constants = constants();
        for (line, what) in [
            ("COLUMN: usize = 20", "the column of `Location`"),
            ("ARGUMENTS: usize = 8", "the length of a text in `Arguments`"),
            ("VALUE: usize = 0", "the value of an argument"),
            ("FORMATTER: usize = 24", "the table of a `&dyn Debug`"),
        ] {
            let (name, _) = line.split_once(" = ").unwrap();
            assert!(constants.contains(line), "{constants}");
            // Still inside of what it is an offset in.
            let other =
                constants.replace(line, &format!("{name} = {}", if what.contains("table") { 16 } else { 4 }));
            let error = run(&rustc, &format!("{other}{PROGRAM}"), dir.path()).unwrap_err();
            assert!(
                matches!(&error, ToolchainError::OtherLayout { what: found, .. } if found == what),
                "{error}"
            );
        }
    }

    #[test]
    fn a_check_that_cannot_run_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let error = run(&device_rustc(), "fn main() { no_such_function() }", dir.path()).unwrap_err();
        assert!(error.to_string().contains("no_such_function"), "{error}");
    }

    #[test]
    fn a_rustc_is_checked_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut rustc = device_rustc();
        let environment = crate::toolchain::Environment::default().with("GPUKERNEL_CACHE", dir.path());
        let options = FindOptions::new(".").environment(environment);
        ensure(&rustc, &options).unwrap();
        // Not run again.
        rustc.path = dir.path().join("none");
        ensure(&rustc, &options).unwrap();
        rustc.verbose_version.push_str("another build");
        assert!(matches!(ensure(&rustc, &options), Err(ToolchainError::LayoutsNotChecked { .. })));
    }
}
