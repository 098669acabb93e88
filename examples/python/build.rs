//! Compiles `kernels/` for NVIDIA GPUs; `src/lib.rs` embeds the result in the Python module.

fn main() -> Result<(), gpukernel_build::Error> {
    gpukernel_build::Builder::new("kernels").build()
}
