//! Compiles `kernels/` for NVIDIA GPUs, and the files that `gpukernel.toml` names for them and for the CPU; `src/main.rs` embeds the
//! result.

fn main() -> Result<(), gpukernel_build::Error> {
    gpukernel_build::Builder::new("kernels").build()
}
