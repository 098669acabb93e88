//! Images of the kernels in `kernels/`, and of kernels that look like them from outside.

// Programs that forbid it embed images, too.
#![forbid(unsafe_code)]

use gpukernel::Image;

/// The kernels.
pub static KERNELS: Image = gpukernel::image!("kernels");

/// The kernels of the same crate with the feature `other`: the same names, and parameters of the same sizes.
pub static OTHER_FEATURES: Image = gpukernel::image!("other-features");

/// Kernels of another package, whose library has the same name.
pub static OTHER_PACKAGE: Image = gpukernel::image!("other-package");
