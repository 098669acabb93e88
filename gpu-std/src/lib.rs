//! The standard library of GPU kernels: what a kernel crate is written with.
//!
//! A kernel is a safe function that runs once per thread of a launch. It sees its place in the launch, memory that the launch
//! lends to it, memory that its block shares, and nothing else:
//!
//! ```
//! // A crate of its own, `#![no_std]`.
//! use gpu_std::prelude::*;
//!
//! /// y = a·x + y.
//! #[kernel]
//! pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
//!     for (i, y) in y {
//!         *y += a * x[i];
//!     }
//! }
//! ```
//!
//! The same source is compiled for the GPU and, with the same meaning, for the host, where the CPU device runs it. Programs
//! launch kernels through the crate `gpukernel`.
//!
//! | what | where |
//! |---|---|
//! | kernels and their parameters, launch contracts | [`macro@kernel`], [`macro@DeviceCopy`] |
//! | generic kernels, and functions that they take | [`instantiate!`], [`DeviceFn`], [`device_fn!`] |
//! | the thread's place | [`thread_index`], [`block_index`], [`block_dim`], [`grid_dim`], [`global_index`], [`global_rank`], [`block_rank`], … |
//! | loops that fit every grid | [`grid_stride`], [`grid_stride_2d`], [`grid_stride_3d`] |
//! | outputs by thread | [`PerThread`], [`PerThread2d`], [`PerThread3d`], [`PerThreadStrided`] |
//! | outputs by block | [`PerBlock`], [`BlockTiles`], [`BlockTiles2d`] |
//! | inputs with a shape | [`View2d`], [`View3d`], [`ViewStrided`] |
//! | memory of the block, and its barrier | [`Shared`], [`Shared2d`], [`SharedSlice`], [`SharedAtomics`], [`SharedCells`], [`sync`] |
//! | memory of the block that is filled while threads do something else | [`AsyncShared`], [`AsyncShared2d`], [`Pipeline`], [`Mbarrier`] |
//! | constant memory, which the host sets | [`Constant`], [`macro@constant`] |
//! | memory that all threads change | [`Atomic`], [`RelaxedCell`], [`mod@atomic`] |
//! | memory whose threads the kernel keeps apart by itself | [`UnsafeSlice`], [`UnsafeShared`] |
//! | barriers that ask a question | [`sync_count`], [`sync_all`], [`sync_any`] |
//! | what threads of a block make together: reductions, scans, sorted keys | [`BlockScratch`], [`SortScratch`], [`collective`] |
//! | the barrier of the grid | [`sync_grid`] |
//! | clusters of blocks, and the shared memory of other blocks | [`cluster()`], [`sync_cluster`], [`Cluster::share`] |
//! | warps, and groups of their lanes | [`mod@warp`]: [`warp()`], [`tile`], [`coalesced`], [`LaneGroup`] |
//! | matrices multiplied by warps: tensor cores | [`mma`] |
//! | loops without a loop | [`unroll()`] |
//! | time, and early ends | [`clock()`], [`clock64`], [`global_timer`], [`nanosleep`], [`exit_thread()`], [`trap`] |
//! | functions of CUDA C and C++, and functions for them | [`macro@device`] |
//! | mathematics, bit operations | [`Float`], [`FloatExt`], [`FastMath`], [`math`] |
//! | vectors that are loaded as one | [`vector`] |
//! | numbers of 16 bits, complex numbers | [`half`], [`complex`] |
//! | random numbers | [`rng`] |
//!
//! # What is safe
//! Safe kernels have no data race and no dangling reference: inputs are read-only for the time of the launch, each thread
//! writes only what it owns, shared arrays change hands at barriers only, all else is atomic. Indices are checked, and launch
//! contracts let the compiler prove checks away.
//!
//! # Not enforced
//! | what | what happens on the GPU | how to find it |
//! |---|---|---|
//! | All threads of a block that still run come to the same [`sync`], the same number of times, with the same shared arrays. | The block hangs, or threads are in different phases of a shared array, which is a data race. | The CPU device compares the barriers at which threads wait, and what they give to them, and reports the first two that differ ([`host::BlockOps::barrier`]). With `GPUKERNEL_CHECK=1`, also a thread that ends while others wait at a barrier. |
//! | Lanes of one warp go round loops in loops alike where the inner one has a barrier. | The warp may hang although all lanes come to the barrier the same number of times: those that left the inner loop wait for the others behind it, and the others for them at the barrier. | Not found: the CPU device has no warps that part. |
//! | All threads of the grid come to the same [`sync_grid`], the same number of times, and none ends before. | The launch hangs; where a panic ended them, it ends. | The CPU device reports two threads of which one waits there and the other has ended or waits elsewhere ([`host::BlockOps::grid_barrier`]). |
//! | All threads of a cluster that still run come to the same [`sync_cluster`] and the same [`Cluster::share`], the same number of times, and lend the same array of each block. | The cluster hangs, or a shared array is read in one block while another writes it. | The CPU device reports two blocks that wait in different places ([`host::BlockOps::cluster_barrier`]). |
//! | No thread ends ([`exit_thread()`], a panic) inside of [`Cluster::share`] so that its block ends while others use its shared memory. | They read and write memory that may belong to another block by then. | On the CPU device the memory stays. A panic is an error in any case. |
//! | In [`UnsafeSlice`] and [`UnsafeShared`], no two threads use an element at once, of which one writes it. | The result is arbitrary. | On the CPU device with `GPUKERNEL_CHECK=1`, an error that names both threads and both places. Accesses through raw pointers are not seen. |
//! | A [`SharedAtomics`] or [`SharedCells`] array is filled before it is read, with a barrier between. | Its values are arbitrary. | On the CPU device with `GPUKERNEL_CHECK=1`, memory that nobody wrote has all bytes `0xa5`. |
//! | An [`Atomic`] is changed only by threads within the scope of the operation ([`mod@atomic`]). | Changes get lost. | Not found: on the CPU device all scopes are the same. |
//! | What is changed atomically by a function that is not inlined, or for the [`System`](atomic::System), is not a local variable of a thread. | The launch fails, and the device with it. | Not found: the CPU device has no memory of other kinds. |
//! | All threads of a block come to each call of a [`BlockScratch`] or [`SortScratch`], to the same ones in the same order. | The block hangs, or results, and what lies in shared memory, are arbitrary. | The CPU device reports threads that wait elsewhere, and how many have ended before. |
//! | All lanes of a group that still run come to the same operations of the group, in the same order. | The warp hangs, or values are arbitrary. | The CPU device reports two threads and where they wait ([`host::BlockOps::meet`]). |
//! | All 32 lanes of a [`ConvergedWarp`](mma::ConvergedWarp) come to the same matrix instruction, and none has ended. | The warp hangs, or the result is arbitrary. | The CPU device reports two threads and where they wait, or panics for a lane that has ended. |
//! | A thread that ends early ([`exit_thread()`], a panic, or [`core::mem::forget`] of a [`PendingCopy`] or [`PendingBulkCopy`]) has waited for its copies. | PTX does not say whether the memory of a block waits for them: they may reach that of another block. | Not found: on the CPU device copies are made where they are started. |
//! | A thread whose share of a copy into a staged array is wanted has not ended; for [`AsyncShared::copy_bulk`] that is the thread of rank 0. | What it would have copied is arbitrary. | On the CPU device with `GPUKERNEL_CHECK=1`, memory that nobody wrote has all bytes `0xa5`. |
//! | A lane that a shuffle asks for a value has not ended. | The value is arbitrary. | A panic on the CPU device. |
//! | Destructors that run because of a panic wait at one place, or not at all, and do not panic or [`exit_thread()`]. | Nothing: no destructors run there. | On the CPU device the launch fails with the first panic. Threads that wait in destructors then meet when all others of the block have ended. If they wait at different places, or one panics again or calls [`exit_thread()`], nothing can unwind them: the process ends with a message that names the kernel and the thread. So it does where a thread catches its end a thousand times and waits again. |
//! | Which lanes are [`coalesced`]. | Results that depend on it differ from launch to launch. | Compare launches: the CPU device puts all lanes together that come to the same place. |
//! | A kernel ends. | It runs until the driver's watchdog or the user ends the process. | It does not end on the CPU device either. |
//! | The stack is large enough for deep recursion. | Local memory overflows. | It overflows on the CPU device too, where a thread has 1984 KiB: the process ends with a message that names the kernel. |
//! | The order in which threads change [`Atomic`]s, and so sums of floating-point numbers. | Results differ in the last bits from launch to launch. | Compare with a tolerance. |
#![no_std]
// What the macros write says `gpu_std`, here too.
extern crate self as gpu_std;
#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("gpu-std needs a 64-bit target: addresses and alignments on the host are those on the GPU");

pub mod async_copy;
pub mod atomic;
pub mod cluster;
pub mod collective;
pub mod complex;
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
pub mod device;
pub mod half;
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub mod host;
mod kernel;
pub mod math;
pub mod mma;
mod output;
pub mod prelude;
pub mod print;
pub mod rng;
pub mod shared;
mod thread;
pub mod vector;
pub mod view;
pub mod warp;

#[doc(inline)]
pub use async_copy::{
    AsyncElement, AsyncShared, AsyncShared2d, AsyncSharedView, AsyncSharedView2d, Mbarrier, PendingBulkCopy,
    PendingCopy, Pipeline, PipelineRest, Ready,
};
#[doc(inline)]
pub use atomic::{Atomic, AtomicElement, RelaxedCell};
#[doc(inline)]
pub use cluster::{Cluster, cluster, sync_cluster};
#[doc(inline)]
pub use collective::{BlockScratch, SortScratch};
pub use gpu_std_macros::{DeviceCopy, constant, device, instantiate, kernel, print, println};
pub use kernel::{
    constant::Constant,
    contract::{self, Contract},
    device_copy::{DeviceCopy, Plain},
    device_fn::DeviceFn,
    param,
};
#[doc(hidden)]
pub use kernel::{device_copy, signature};
#[doc(inline)]
pub use math::{FastMath, Float, FloatExt, RoundedArithmetic, Rounding};
pub use output::{
    BlockTile, BlockTile2d, BlockTile2dIter, BlockTileIter, BlockTiles, BlockTiles2d, BlockTiles2dIter,
    BlockTilesIter, PerBlock, PerBlockIter, PerThread, PerThread2d, PerThread2dIter, PerThread3d,
    PerThread3dIter, PerThreadIter, PerThreadStrided, PerThreadStridedIter, UnsafeSlice,
};
#[doc(inline)]
pub use shared::{
    Phase, Shared, Shared2d, SharedAtomics, SharedCells, SharedElement, SharedSlice, SharedSliceView,
    SharedView, SharedView2d, UnsafeShared, sync, sync_all, sync_any, sync_count, sync_grid,
};
pub use thread::{
    Dim3, GlobalDim3, GridStride, GridStride2d, GridStride3d, arch, block_dim, block_index, block_rank,
    blocks_per_grid, clock, clock64, exit_thread, global_dim, global_index, global_rank, global_timer,
    grid_dim, grid_stride, grid_stride_2d, grid_stride_3d, nanosleep, thread_index, thread_rank,
    threads_per_block, threads_per_grid, trap, unroll,
};
#[doc(inline)]
pub use view::{View2d, View3d, ViewStrided};
#[doc(inline)]
pub use warp::{
    LaneGroup, WARP_SIZE, active_mask, coalesced, lane_index, lane_mask_eq, lane_mask_ge, lane_mask_gt,
    lane_mask_le, lane_mask_lt, tiled_partition, warp, warp_index, warps_per_block,
};
