//! NCCL without GPUs: the tests of several processes, and faults, against a driver and an NCCL that rustc compiles for these tests.
#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

#[path = "../ranks/collectives.rs"]
mod collectives;
#[path = "../ranks/failures.rs"]
mod failures;
mod faults;
#[path = "../ranks/messages.rs"]
mod messages;
#[path = "../ranks/start.rs"]
mod start;

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// Where processes find the driver and NCCL, and how many devices there are.
fn environment() -> Vec<(&'static str, OsString)> {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("nccl {}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        compile(&here.join("../runtime/tests/driver/driver.rs"), &folder.join("libcuda.so.1"));
        compile(&here.join("tests/nccl/nccl.rs"), &folder.join("libnccl.so.2"));
        folder
    });
    // What identifies a communicator has room for a short path.
    static STARTS: AtomicU64 = AtomicU64::new(0);
    let start = STARTS.fetch_add(1, Ordering::Relaxed);
    let files = env::temp_dir().join(format!("gpukernel-{}.{start}", std::process::id()));
    vec![
        ("LD_LIBRARY_PATH", folder.into()),
        ("FAKE_DEVICES", "4".into()),
        ("FAKE_NCCL_FOLDER", files.into()),
        // Where no real NCCL is.
        ("GPUKERNEL_CACHE", folder.into()),
    ]
}

fn compile(source: &Path, library: &Path) {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let arguments = ["--edition=2024", "--crate-type=cdylib", "-Copt-level=1", "-o"];
    assert!(Command::new(rustc).args(arguments).arg(library).arg(source).status().unwrap().success());
}
