//! Compiles `kernels/` for NVIDIA GPUs; `src/main.rs` embeds the result.

fn main() -> Result<(), gpukernel_build::Error> {
    gpukernel_build::Builder::new("kernels").build()
}
