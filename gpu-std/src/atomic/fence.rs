//! Fences: what is ordered without an atomic operation of its own.

use super::order::{FenceOrdering, How, Scope};

/// Orders all memory accesses of the thread before it against those after it, as far as threads of the scope see them.
///
/// `fence(Block, SeqCst)`, `fence(Device, SeqCst)` and `fence(System, SeqCst)` are CUDA's `__threadfence_block`,
/// `__threadfence` and `__threadfence_system`; [`AcqRel`](super::AcqRel) is cheaper and suffices where one value is handed over.
/// With relaxed atomics around it, a fence synchronises as in [`core::sync::atomic::fence`].
///
/// ```
/// use gpu_std::{atomic::{Acquire, Device, Release, fence}, prelude::*};
///
/// /// The last block to end adds up what all blocks left.
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
