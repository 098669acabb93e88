//! Compiles the kernels.

fn main() -> Result<(), gpukernel_build::Error> {
    gpukernel_build::Builder::new("kernels").build()
}
