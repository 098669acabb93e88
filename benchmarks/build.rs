//! Builds the Rust kernels with gpukernel and, with the feature `nvcc`, the CUDA C++ ones with nvcc, both for the same architectures.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use gpukernel_build::{
    Builder, CudaCompiler, CudaSources, Options,
    toolchain::{CudaPart, FindOptions, Toolchain},
};

fn main() -> Result<(), Box<dyn Error>> {
    Builder::new("kernels").build()?;
    Builder::new("tuned").build()?;
    if env::var_os("CARGO_FEATURE_CUB").is_some() {
        let library = PathBuf::from(env::var("OUT_DIR")?).join("device.so");
        if gpukernel_build::needs_no_device_code() {
            fs::write(library, "")?;
        } else {
            nvcc_library(Path::new("cuda/device.cu"), &library)?;
        }
    }
    if env::var_os("CARGO_FEATURE_NVCC").is_none() {
        return Ok(());
    }
    for way in [CudaCompiler::Nvcc, CudaCompiler::Clang, CudaCompiler::Lto] {
        let link = CudaSources::new(["cuda/logistic.cu"]).compiler(way);
        Builder::new("linked").image(format!("linked-{way}")).link(link).build()?;
    }
    let drafts = [
        "boxes",
        "dense",
        "docking",
        "grids",
        "lattices",
        "lookups",
        "particles",
        "rows",
        "scalar",
        "sorting",
        "streams",
    ]
    .map(|name| format!("draft/{name}"));
    for name in ["kernels", "block", "iterate", "tensor"].map(str::to_owned).into_iter().chain(drafts) {
        let fatbin =
            PathBuf::from(env::var("OUT_DIR")?).join(name.replace('/', "-")).with_extension("fatbin");
        if gpukernel_build::needs_no_device_code() {
            fs::write(fatbin, "")?;
        } else {
            nvcc(&Path::new("cuda").join(&name).with_extension("cu"), &fatbin)?;
        }
    }
    Ok(())
}

fn nvcc(source: &Path, fatbin: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", source.display());
    let toolchain = Toolchain::find(&FindOptions::new("."))?;
    let mut command = Command::new(&toolchain.cuda.require(CudaPart::Nvcc)?.path);
    command.args(["-O3", "-fatbin", "--threads=0", "-o"]).arg(fatbin).arg(source);
    for arch in Options::default().archs {
        let (major, minor) = arch.compute_capability();
        command.arg(format!("-gencode=arch=compute_{major}{minor},code=sm_{major}{minor}"));
    }
    run(command)
}

/// Builds a library for the host whose kernels are for an H100: for each further architecture, CUB takes minutes.
fn nvcc_library(source: &Path, library: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", source.display());
    let toolchain = Toolchain::find(&FindOptions::new("."))?;
    let mut command = Command::new(&toolchain.cuda.require(CudaPart::Nvcc)?.path);
    command.args([
        "-O3",
        "-shared",
        "-arch=sm_90",
        "-cudart=static",
        "-Xcompiler=-fPIC,-fvisibility=hidden",
        "-o",
    ]);
    command.arg(library).arg(source);
    run(command)
}

fn run(mut command: Command) -> Result<(), Box<dyn Error>> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}").into()) }
}
