//! The random programs of `random-programs`, for GPUs.

use gpukernel::Image;

/// All of them.
pub static KERNELS: Image = gpukernel::image!("kernels");
