//! The GPU architecture that the code is compiled for (CUDA's `__CUDA_ARCH__`).

/// Returns the compute capability that this code is compiled for, as a number: 90 for `sm_90` (CUDA's `__CUDA_ARCH__` is 900
/// there). 0 on the CPU device.
///
/// It is a constant in the code of each architecture: branches on it cost nothing, and the branch that is not taken is
/// removed.
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn which(out: PerThread<u32>) {
///     for (_, out) in out {
///         *out = gpu_std::arch();
///     }
/// }
/// ```
#[doc(alias = "__CUDA_ARCH__", alias = "compute_capability")]
#[inline(always)]
pub fn arch() -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            safe fn __gpukernel_arch() -> u32;
        }
        __gpukernel_arch()
    }
    #[cfg(not(target_arch = "nvptx64"))]
    0
}
