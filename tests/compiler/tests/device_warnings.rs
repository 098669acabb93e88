//! Warnings of rustc about device code, which no check of the host sees: half of gpu-std is compiled for the device only.

use std::process::Command;

use gpukernel_build::toolchain::DEVICE_TARGET;
use gpukernel_tests::{repository, toolchain};

/// Nothing is unused or dead on the device: in gpu-std, with all its features and without, and in what the macros write.
#[test]
fn gpu_std_compiles_for_the_device_without_warnings() {
    let rustc = toolchain().rustc;
    let mut flags = "-Dwarnings".to_owned();
    if let Some(sysroot) = &rustc.sysroot {
        flags += &format!("\x1f--sysroot\x1f{}", sysroot.display());
    }
    for packages in [
        &["-p", "gpu-std"][..],
        &["-p", "gpu-std", "--all-features"],
        &["-p", "gpukernel-device-test-kernels"],
    ] {
        let output = Command::new(env!("CARGO"))
            .args(["check", "--lib", "--target", DEVICE_TARGET, "--quiet"])
            .args(packages)
            .current_dir(repository())
            .env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/device-warnings"))
            .env("CARGO_ENCODED_RUSTFLAGS", &flags)
            .env("RUSTC", &rustc.path)
            .env_remove("RUSTC_WRAPPER")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .output()
            .expect("cargo runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{packages:?}:\n{stderr}");
    }
}
