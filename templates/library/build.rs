//! Compiles the kernels for NVIDIA GPUs; `gpukernel::image!("my-project-kernels")` embeds the result in the library.

fn main() -> Result<(), gpukernel_build::Error> {
    gpukernel_build::Builder::dependency("my-project-kernels").build()
}
