//! The kernels that ship.

use gpukernel::LazyModule;

/// Loaded on a device when they are first used there.
pub(crate) static KERNELS: LazyModule = LazyModule::new(gpukernel::image!("gpukernel-algorithms-kernels"));

/// What the paths of its kernels begin with.
pub(crate) const CRATE: &str = "gpukernel_algorithms_kernels::";
