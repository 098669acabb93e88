//! Compiles `kernels/` for NVIDIA GPUs; `src/shipped.rs` embeds the result.

fn main() -> Result<(), gpukernel_build::Error> {
    gpukernel_build::Builder::dependency("gpukernel-algorithms-kernels").build()
}
