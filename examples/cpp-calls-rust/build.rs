//! Compiles `functions/` to an object and a header, and with nvcc the kernel in `cuda/` that calls them.

use std::{env, error::Error, ffi::OsStr, fs, path::PathBuf, process::Command};

use gpukernel_build::{
    Builder, Emit, Options, needs_no_device_code,
    toolchain::{CudaPart, FindOptions, Toolchain},
};

fn main() -> Result<(), Box<dyn Error>> {
    Builder::new("functions").emit([Emit::Object, Emit::Header]).build()?;
    let out_dir = PathBuf::from(env::var("OUT_DIR")?);
    let fatbin = out_dir.join("develop.fatbin");
    if needs_no_device_code() {
        return Ok(fs::write(fatbin, "")?);
    }
    println!("cargo::rerun-if-changed=cuda/develop.cu");
    let (object, functions) = (out_dir.join("develop.o"), out_dir.join("functions"));
    let rust = functions.join("cpp_calls_rust_functions.o");
    nvcc(&["-dc".as_ref(), "-I".as_ref(), functions.as_os_str(), "cuda/develop.cu".as_ref()], &object)?;
    nvcc(&["-dlink".as_ref(), "-fatbin".as_ref(), object.as_os_str(), rust.as_os_str()], &fatbin)
}

/// Runs nvcc for the architectures that gpukernel builds for.
fn nvcc(arguments: &[&OsStr], output: &PathBuf) -> Result<(), Box<dyn Error>> {
    let toolchain = Toolchain::find(&FindOptions::new("."))?;
    let mut command = Command::new(&toolchain.cuda.require(CudaPart::Nvcc)?.path);
    for arch in Options::default().archs {
        let (major, minor) = arch.compute_capability();
        command.arg(format!("-gencode=arch=compute_{major}{minor},code=sm_{major}{minor}"));
    }
    command.args(arguments).arg("-o").arg(output);
    if command.status()?.success() { Ok(()) } else { Err(format!("{command:?} failed").into()) }
}
