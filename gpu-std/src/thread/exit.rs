//! Ending a thread, or the whole kernel, early.

/// Ends the calling thread, as if its kernel had returned (PTX's `exit`). Destructors run on the CPU device only, so the
/// thread should own nothing that needs them.
///
/// The other threads continue. [`sync`](crate::sync) and [`sync_cluster`](crate::cluster::sync_cluster) do not wait for threads that have
/// ended; before a [`sync_grid`](crate::sync_grid), no thread may end. On the CPU device with `GPUKERNEL_CHECK=1`, a `sync` that a thread
/// of the block does not reach because it has ended is an error of the launch (`Error::EndedBeforeBarrier`).
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
/// On the CPU device in a program built with `panic = "abort"`, where a thread cannot be ended from inside. Return instead.
#[doc(alias = "exit")]
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

/// Aborts the kernel with an error (CUDA's `__trap()`). On a GPU the device is unusable for the rest of the process
/// afterwards (`Error::ContextLost`); `panic!` reports what is wrong and where, and leaves the device usable. On the CPU
/// device it panics.
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
#[doc(alias = "__trap")]
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

/// Whether a thread of a kernel of this module has panicked, and the host has not been told yet. For a thread that waits for another in a loop, which
/// may have ended by a panic. On the CPU device a panic unwinds the threads of its block, and so runs their destructors.
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
#[inline(always)]
pub fn has_panicked() -> bool {
    unsafe extern "C" {
        safe fn __gpukernel_has_panicked() -> u32;
    }
    __gpukernel_has_panicked() != 0
}
