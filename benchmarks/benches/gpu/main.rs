//! Kernels of ours beside the same from nvcc and from CUB. On the CPU device, drafts beside their tuned versions.

mod arrays;
mod block;
mod cores;
mod documents;
mod families;
mod launches;
mod linked;
mod random;
mod tensor;
mod transfers;

use cudarc::driver::sys::CUstream;
use gpukernel::{Image, Stream};
use gpukernel_bench::{Bench, Result};

static KERNELS: Image = gpukernel::image!("kernels");
static TUNED: Image = gpukernel::image!("tuned");

fn main() -> std::process::ExitCode {
    gpukernel_bench::main()
}

/// The driver's handle of a GPU's stream.
fn raw(stream: &Stream) -> Result<CUstream> {
    Ok(stream.as_raw().ok_or("it is of a GPU")?.cast())
}

/// Skips a row whose result is compared with that of code for GPUs, on another device.
fn needs_gpu(bench: &mut Bench<'_>) -> bool {
    let is_cpu = !bench.device().is_gpu();
    if is_cpu {
        bench.skip("it is compared with code that nvcc compiled for GPUs");
    }
    is_cpu
}
