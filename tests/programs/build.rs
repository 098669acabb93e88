//! Compiles the programs for NVIDIA GPUs, as a release build and as a dev build.

use gpukernel_build::{Builder, MachineCode, Profile};

fn main() -> Result<(), gpukernel_build::Error> {
    // A test asks what ptxas made of them.
    let builder = || Builder::new("kernels").machine_code(MachineCode::All);
    builder().image("release").profile(Profile::Release).build()?;
    builder().image("dev").profile(Profile::Dev).build()
}
