//! Tests that run themselves again, in a process of their own.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    thread,
};

/// Whether this process is the one in which the test runs.
#[allow(dead_code, reason = "not every test file does")]
pub(crate) fn is_inner() -> bool {
    env::var_os("OBSERVED").is_some()
}

/// Runs the test that calls this again, with these variables.
pub(crate) fn again(variables: &[(&str, &Path)]) -> Output {
    let name = thread::current().name().map(str::to_owned).expect("tests run in threads of their names");
    let mut command = Command::new(env::current_exe().expect("a test knows where it is"));
    command.args(["--exact", &name, "--nocapture", "--include-ignored"]).env("OBSERVED", "1");
    command.envs(variables.iter().copied()).output().expect("the test starts again")
}

#[track_caller]
pub(crate) fn succeeded(output: &Output) {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}\n{stderr}");
}

/// A folder of this test's own.
#[allow(dead_code, reason = "not every test file does")]
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("again {name}"));
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}
