//! Pipelines that are not what they should be: they depend on the thread that runs them. What they return is arbitrary, and nothing else is.

use gpu_std::{pipeline::*, prelude::*};

/// Has another length on each thread.
#[pipeline]
pub fn lengths_of_threads(x: In<u32>) -> Out<u32> {
    x.take(x.len() / 2 + thread_rank_in_kernels())
}

/// Leaves out other items when they are written than when they are counted.
#[pipeline]
pub fn changing(x: In<u32>, counter: u32) -> Compact<u32> {
    x.filter(move |v| v.wrapping_add(clock_in_kernels()) % 3 != counter)
}

/// Has reductions, which all threads of a block are to call, in a closure that each calls for its own items.
#[pipeline]
pub fn reduced_for_each_item(x: In2d<f32>) -> Out2d<f32> {
    x.rows().map(|row| row.map(move |v| (v - row.max()).exp()))
}

/// The rank of a thread, or 0 on the host, which has none.
fn thread_rank_in_kernels() -> usize {
    #[cfg(target_arch = "nvptx64")]
    return thread_rank() as usize;
    #[cfg(not(target_arch = "nvptx64"))]
    0
}

/// Different at each call.
fn clock_in_kernels() -> u32 {
    #[cfg(target_arch = "nvptx64")]
    return gpu_std::clock() as u32;
    #[cfg(not(target_arch = "nvptx64"))]
    {
        use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
        static CALLS: AtomicU32 = AtomicU32::new(0);
        CALLS.fetch_add(1, Relaxed)
    }
}
