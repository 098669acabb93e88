//! Programs that rustc must refuse: the files `tests/compile-fail/*.rs`, each beside what rustc says to it.
//!
//! [`check`] compares rustc's exact words where rustc is the release that they were stored with, and the lines of its errors with
//! any other. Either way every program is compiled now, so the test passes nowhere without having run.

mod diagnostics;
mod project;
mod stored;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    path::PathBuf,
    process::Command,
};

/// The lines of a file, counted from 1.
pub type Lines = BTreeSet<usize>;

/// The release of Rust whose words the files hold: the oldest that the workspace supports.
const PINNED: &str = env!("CARGO_PKG_RUST_VERSION");

/// Set to 1 where another release of rustc is a failure, as in CI.
const REQUIRE_PINNED: &str = "GPUKERNEL_REQUIRE_PINNED_RUSTC";

/// Makes build scripts leave out device code, which no program here needs, and which takes a minute for what they depend on.
const NO_DEVICE_CODE: &str = "GPUKERNEL_NO_DEVICE_CODE";

/// Checks every program, in another process of the calling test, which has that name.
///
/// # Panics
/// If rustc accepts one, or says something else than is stored; if `GPUKERNEL_REQUIRE_PINNED_RUSTC` is set and rustc is another
/// release than the stored words are from.
pub fn check(test: &str) {
    // trybuild's cargo has the environment of its process, which other threads of this one may be reading.
    if env::var_os(NO_DEVICE_CODE).is_none_or(|value| value != "1") {
        let status = Command::new(env::current_exe().expect("a test knows where it is"))
            .args(["--exact", test, "--nocapture"])
            .env(NO_DEVICE_CODE, "1")
            .status()
            .expect("this program runs");
        assert!(status.success(), "see above");
        return;
    }
    let version = rustc_version();
    if version.starts_with(&format!("rustc {PINNED}.")) {
        trybuild::TestCases::new().compile_fail("tests/compile-fail/*.rs");
        return;
    }
    assert!(
        env::var_os(REQUIRE_PINNED).is_none_or(|value| value != "1"),
        "rustc {PINNED} is required here, whose words are stored, and this is {version}"
    );
    println!(
        "comparing the lines of errors, not the words: those are from rustc {PINNED}, this is {version}"
    );
    let mut missing = Vec::new();
    for (file, found) in error_lines() {
        let expected = stored::read(&file).errors;
        missing.extend(expected.difference(&found).map(|line| format!("{}:{line}", file.display())));
    }
    assert!(missing.is_empty(), "rustc has nothing against\n{}", missing.join("\n"));
}

/// The lines at which errors and their notes are stored, for each program. [`check`] compares what is stored with what rustc says.
///
/// # Panics
/// If there are no programs, or one has no errors.
pub fn stored_error_lines() -> BTreeMap<PathBuf, Lines> {
    programs().into_iter().map(|file| (file.clone(), stored::read(&file).with_notes)).collect()
}

fn programs() -> Vec<PathBuf> {
    let files = project::programs();
    assert!(!files.is_empty(), "there are no programs that must be refused");
    files
}

/// The lines at which the present rustc reports errors, for each program.
///
/// # Panics
/// If cargo cannot be run, or there are no programs.
fn error_lines() -> BTreeMap<PathBuf, Lines> {
    let files = programs();
    let manifest = project::write(&files);
    diagnostics::error_lines(&manifest, files)
}

fn rustc_version() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc).arg("--version").output().expect("rustc, which built this, runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
