//! The standard library of GPU kernels.
#![no_std]
#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

mod atomic;
mod barrier;
pub mod contract;
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
pub mod device;
#[doc(hidden)]
pub mod device_copy;
mod dim;
#[cfg(not(target_arch = "nvptx64"))]
pub mod host;
mod index;
mod math;
pub mod param;
mod per_thread;
mod per_thread_2d;
pub mod prelude;
pub mod shared;
mod stride;

pub use atomic::{Atomic, AtomicElement};
pub use barrier::{Phase, sync};
pub use contract::Contract;
#[doc(inline)]
pub use device_copy::DeviceCopy;
pub use dim::Dim3;
pub use gpu_std_macros::{DeviceCopy, kernel};
pub use index::{
    GlobalDim3, block_dim, block_index, global_dim, global_index, global_rank, grid_dim, thread_index,
    thread_rank, threads_per_block, threads_per_grid,
};
pub use math::Float;
pub use per_thread::{PerThread, PerThreadIter};
pub use per_thread_2d::{PerThread2d, PerThread2dIter};
pub use shared::{Shared, Shared2d, SharedElement, SharedView, SharedView2d};
pub use stride::{GridStride, GridStride2d, GridStride3d, grid_stride, grid_stride_2d, grid_stride_3d};
