//! The calling thread: its indices (CUDA's `threadIdx`, `blockIdx`, …), grid-stride loops, clocks, prefetches, and ending early.

mod arch;
mod block_stride;
mod clock;
mod dim;
mod exit;
pub(crate) mod grid_stride;
mod index;
pub(crate) mod indexing;
mod load;
mod prefetch;
pub(crate) mod unchecked;
mod unroll;

pub use arch::arch;
pub use block_stride::{BlockStride, block_stride};
pub use clock::{clock, clock64, global_timer, nanosleep};
pub use dim::Dim3;
#[cfg(target_arch = "nvptx64")]
pub use exit::has_panicked;
pub use exit::{exit_thread, trap};
pub use grid_stride::{GridStride, GridStride2d, GridStride3d, grid_stride, grid_stride_2d, grid_stride_3d};
pub use index::{
    GlobalDim3, block_dim, block_index, block_rank, blocks_per_grid, global_dim, global_index, global_rank,
    grid_dim, thread_index, thread_rank, threads_per_block, threads_per_grid,
};
pub use load::load_here;
pub use prefetch::prefetch_l2;
pub use unroll::unroll;
pub(crate) use unroll::unroll_while;
