//! Libraries that rustc compiles for a test.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// Compiles a source of the tests to a dynamic library.
pub(crate) fn compiled(source: &str, library: PathBuf) -> PathBuf {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=cdylib", "-Copt-level=1", "-o"])
        .arg(&library)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source))
        .status()
        .expect("there is a rustc");
    assert!(status.success());
    library
}
