//! Compiles the programs for NVIDIA GPUs, as a release build and as a dev build.

use gpukernel_build::{Builder, Profile};

fn main() -> Result<(), gpukernel_build::Error> {
    Builder::new("kernels").image("release").profile(Profile::Release).build()?;
    Builder::new("kernels").image("dev").profile(Profile::Dev).build()
}
