//! What the runtime refuses at compile time, with rustc's exact words: attacks on device memory and launches.
//!
//! `TRYBUILD=overwrite` writes the words anew.

use std::{env, process::Command};

/// The Rust whose words the cases expect: others say the same in other words.
const RUST: &str = env!("CARGO_PKG_RUST_VERSION");

#[test]
fn compile_fail() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(&rustc).arg("--version").output().expect("rustc, which built this, runs");
    let version = String::from_utf8_lossy(&version.stdout);
    if !version.starts_with(&format!("rustc {RUST}.")) {
        println!("not run: the cases hold what rustc {RUST} says, this is {version}");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/compile-fail/*.rs");
}
