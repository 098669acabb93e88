//! Compiles the kernels for NVIDIA GPUs.

fn main() -> Result<(), gpukernel_build::Error> {
    let features: &[&str] = if cfg!(feature = "all") { &["all"] } else { &[] };
    gpukernel_build::Builder::new("kernels").features(features.iter().copied()).build()
}
