//! Builds the kernels, and others of the same names.

use std::{env, error::Error, fs, path::PathBuf};

use gpukernel_build::Builder;

fn main() -> Result<(), Box<dyn Error>> {
    Builder::new("kernels").build()?;
    Builder::new("kernels").image("other-features").features(["other"]).build()?;
    // Outside of the workspace, which has a library of that name already.
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let repository = here.ancestors().nth(2).ok_or("the package is in a workspace")?;
    let package = PathBuf::from(env::var("OUT_DIR")?).join("other-package-source");
    let gpu_std = repository.join("gpu-std");
    let manifest = format!(
        "[package]\nname = \"other-identity-kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\nname = \"identity_kernels\"\n\
         [workspace]\n[dependencies]\ngpukernel-std = {{ path = {gpu_std:?} }}\n"
    );
    fs::create_dir_all(package.join("src"))?;
    fs::write(package.join("Cargo.toml"), manifest)?;
    fs::copy(here.join("other/lib.rs"), package.join("src/lib.rs"))?;
    fs::copy(repository.join("Cargo.lock"), package.join("Cargo.lock"))?;
    println!("cargo::rerun-if-changed=other/lib.rs");
    Ok(Builder::new(package).image("other-package").build()?)
}
