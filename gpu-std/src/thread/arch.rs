//! The architecture that code is compiled for.

/// The compute capability of the GPU architecture that this code is compiled for, as a number: 90 for `sm_90`. On the CPU
/// device 0.
///
/// A constant in the code of each architecture, so that branches on it cost nothing and their other side is not there.
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
