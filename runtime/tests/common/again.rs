//! Tests that run themselves again, in a process of their own.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    thread,
};

use gpukernel::{Device, Result};

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

/// Runs a test on every GPU there is, on each in a process of its own: for what loses a context, with which the driver loses the whole process.
#[allow(dead_code, reason = "not every test file does")]
pub(crate) fn on_every_gpu_apart(test: impl FnOnce(&Device) -> Result<()>) {
    const VARIABLE: &str = "GPU_OF_THE_TEST";
    if is_inner() {
        let name = env::var(VARIABLE).expect("the first process sets it");
        Device::from_name(&name)
            .and_then(|device| test(&device))
            .unwrap_or_else(|error| panic!("on {name}: {error}"));
        return;
    }
    let devices =
        gpukernel::devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}"));
    assert!(devices.iter().any(Device::is_gpu), "this test needs a GPU, and there is none");
    for device in devices.iter().filter(|device| device.is_gpu()) {
        let output = again(&[(VARIABLE, Path::new(&device.id()))]);
        succeeded(&output);
        println!("on {device}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

/// A folder of this test's own.
#[allow(dead_code, reason = "not every test file does")]
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("again {name}"));
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}
