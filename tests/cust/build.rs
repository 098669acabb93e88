//! Compiles `kernels/` for NVIDIA GPUs, and with the feature `simulated` a driver to link with.

use std::{env, error::Error, fs, path::Path, process::Command};

fn main() -> Result<(), Box<dyn Error>> {
    if cfg!(feature = "cust") {
        gpukernel_build::Builder::new("kernels").build()?;
    }
    if cfg!(feature = "simulated") {
        driver()?;
    }
    Ok(())
}

/// Compiles the driver of the runtime's tests. In `cargo test`, which adds its folder to the loader's path, it is the driver; elsewhere the machine's is.
fn driver() -> Result<(), Box<dyn Error>> {
    let (folder, source) = (env::var("OUT_DIR")?, "driver/lib.rs");
    let library = Path::new(&folder).join("libcuda.so");
    let rustc = env::var_os("RUSTC").ok_or("cargo names no rustc")?;
    let status = Command::new(rustc)
        .args([
            "--edition=2024",
            "--crate-type=cdylib",
            "-Copt-level=1",
            "-Clink-arg=-Wl,-soname,libcuda.so.1",
            "-o",
        ])
        .arg(&library)
        .arg(source)
        .status()?;
    if !status.success() {
        return Err(format!("rustc cannot compile {source}: {status}").into());
    }
    // One file by two names, as a driver has it: cust is linked with one, and cudarc loads the other.
    let loaded = library.with_extension("so.1");
    drop(fs::remove_file(&loaded));
    fs::hard_link(&library, loaded)?;
    println!("cargo::rerun-if-changed=driver");
    println!("cargo::rerun-if-changed=../../runtime/tests/driver/driver.rs");
    println!("cargo::rustc-link-search=native={folder}");
    Ok(())
}
