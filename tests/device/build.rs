//! Compiles the kernels of the tests for NVIDIA GPUs.

fn main() -> Result<(), gpukernel_build::Error> {
    gpukernel_build::Builder::new("kernels").build()?;
    gpukernel_build::Builder::new("../identity/kernels").image("small").build()
}
