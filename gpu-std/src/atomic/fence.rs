//! Memory fences (`__threadfence`, `fence`).

use super::order::{FenceOrdering, How, Scope};

/// Orders the thread's memory accesses before the fence against those after it, as seen by the threads of the scope
/// (`__threadfence`, `fence.sc`, `fence.acq_rel`).
///
/// `fence(Block, SeqCst)`, `fence(Device, SeqCst)` and `fence(System, SeqCst)` are CUDA's `__threadfence_block`,
/// `__threadfence` and `__threadfence_system`; [`AcqRel`](super::AcqRel) is cheaper and suffices to pass a value to another thread.
/// Fences synchronise through relaxed atomics as in [`core::sync::atomic::fence`].
///
/// ```
/// use gpu_std::{atomic::{Acquire, Device, Release, fence}, prelude::*};
///
/// /// The last block to finish adds up the results of all blocks.
/// #[kernel(block = 1)]
/// pub fn sum(parts: &[Atomic<u64>], done: &[Atomic<u32>], total: &[Atomic<u64>]) {
///     let block = block_index().x as usize;
///     parts[block].store(block as u64);
///     fence(Device, Release);
///     if done[0].fetch_inc(grid_dim().x - 1) == grid_dim().x - 1 {
///         fence(Device, Acquire);
///         let sum = (0..grid_dim().x as usize).map(|i| parts[i].load()).sum();
///         total[0].store(sum);
///     }
/// }
/// ```
#[doc(alias = "__threadfence", alias = "__threadfence_block", alias = "__threadfence_system")]
#[doc(
    alias = "threadfence",
    alias = "cuda.threadfence",
    alias = "threadfence_block",
    alias = "threadfence_system"
)]
#[doc(alias = "fence.sc", alias = "fence.acq_rel", alias = "membar", alias = "atomic_thread_fence")]
#[inline(always)]
pub fn fence<S: Scope, O: FenceOrdering>(_scope: S, _ordering: O) {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            safe fn __gpukernel_fence(how: u32);
        }
        __gpukernel_fence(const { <(S, O)>::HOW });
    }
    #[cfg(not(target_arch = "nvptx64"))]
    <(S, O)>::ordered(|| core::sync::atomic::fence(const { <(S, O)>::ORDERING }));
}
