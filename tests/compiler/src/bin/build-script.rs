//! A build script as users write it, which tests run as cargo would. The folder of the kernel crate is its argument.

fn main() -> Result<(), gpukernel_build::Error> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| "kernels".into());
    gpukernel_build::Builder::new(folder).build()
}
