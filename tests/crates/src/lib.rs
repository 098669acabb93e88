//! The kernels of `crate-test-kernels`, for GPUs.

use gpukernel::Image;

/// All of them.
pub static KERNELS: Image = gpukernel::image!("kernels");
