//! How a thread ends early, and how a kernel does.

/// Ends the calling thread, as if its kernel had returned. Its destructors run on the CPU device only: a thread should own nothing
/// that needs them.
///
/// The other threads go on. At a [`sync`](crate::sync), threads that have ended are not waited for.
///
/// ```
/// use gpu_std::{exit_thread, prelude::*};
///
/// fn root(x: f32) -> f32 {
///     if x < 0.0 {
///         exit_thread(); // from deep inside of a kernel
///     }
///     x.sqrt()
/// }
///
/// #[kernel]
/// pub fn roots(x: &[f32], y: PerThread<f32>) {
///     for (i, y) in y {
///         *y = root(x[i]);
///     }
/// }
/// ```
///
/// # Panics
/// On the CPU device in a program built with `panic = "abort"`: there a thread cannot be ended from inside. Return instead.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn exit_thread() -> ! {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            safe fn __gpukernel_exit() -> !;
        }
        __gpukernel_exit()
    }
    #[cfg(not(target_arch = "nvptx64"))]
    crate::host::exit()
}

/// Ends the kernel with an error at once. On a GPU nothing works on the device any more in this process (`Error::ContextLost`):
/// `panic!` says what is wrong and where, and leaves the device usable. On the CPU device this is a panic.
///
/// ```
/// use gpu_std::{prelude::*, trap};
///
/// #[kernel]
/// pub fn checked(x: &[u32]) {
///     if x[0] != 7 {
///         trap();
///     }
/// }
/// ```
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn trap() -> ! {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            safe fn __gpukernel_trap() -> !;
        }
        __gpukernel_trap()
    }
    #[cfg(not(target_arch = "nvptx64"))]
    panic!("the kernel called `trap`")
}
