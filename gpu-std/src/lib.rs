//! The standard library of kernel crates: kernels, indices, memory, barriers, atomics and mathematics on the GPU.
//!
//! A kernel is a safe function that runs once per thread of a launch. It has access to its indices, to device memory that the
//! launch lends to it, and to the shared memory of its block, and to nothing else:
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
//! The same source is compiled for the GPU and for the host, where the CPU device runs it with the same meaning. Programs
//! launch kernels through the crate `gpukernel`.
//!
//! | what | where |
//! |---|---|
//! | kernels (`__global__`) and their parameters, launch contracts | [`macro@kernel`], [`macro@DeviceCopy`] |
//! | functions of arrays from scalar functions (Numba's `@vectorize`) | [`macro@vectorize`], [`elementwise`] |
//! | functions of arrays from functions of small arrays (Numba's `@guvectorize`) | [`macro@guvectorize`], [`gufunc`] |
//! | functions of arrays from chains of iterators, reductions (Numba's `@reduce`) | [`macro@pipeline`], [`macro@reduction`], [`mod@pipeline`] |
//! | generic kernels, device functions as arguments | [`instantiate!`], [`DeviceFn`], [`device_fn!`] |
//! | indices and extents (`threadIdx`, `blockIdx`, `blockDim`, `gridDim`) | [`thread_index`], [`block_index`], [`block_dim`], [`grid_dim`], [`global_index`], [`global_rank`], [`block_rank`], … |
//! | grid-stride and block-stride loops | [`grid_stride`], [`grid_stride_2d`], [`grid_stride_3d`], [`block_stride`] |
//! | outputs owned by threads | [`PerThread`], [`PerThread2d`], [`PerThread3d`], [`PerThreadStrided`] |
//! | outputs owned by warps and blocks | [`PerWarp`], [`PerBlock`], [`BlockTiles`], [`BlockTiles2d`] |
//! | 2D, 3D and strided inputs | [`View2d`], [`View3d`], [`ViewStrided`] |
//! | shared memory (`__shared__`) and the barrier of the block (`__syncthreads`) | [`Shared`], [`Shared2d`], [`SharedSlice`], [`SharedAtomics`], [`SharedCells`], [`sync`] |
//! | asynchronous copies to shared memory (`memcpy_async`, `cp.async`) | [`AsyncShared`], [`AsyncShared2d`], [`Pipeline`], [`Mbarrier`] |
//! | constant memory (`__constant__`), set by the host | [`Constant`], [`macro@constant`] |
//! | atomics, and memory that all threads change | [`Atomic`], [`RelaxedCell`], [`mod@atomic`] |
//! | memory without compile-time race freedom (`unsafe`) | [`UnsafeSlice`], [`UnsafeShared`] |
//! | barriers with a vote (`__syncthreads_count`, `_and`, `_or`) | [`sync_count`], [`sync_all`], [`sync_any`] |
//! | block-wide reductions, scans and radix sort (CUB's `BlockReduce`, `BlockScan`, `BlockRadixSort`) | [`BlockScratch`], [`SortScratch`], [`collective`] |
//! | grid-wide barrier (`grid.sync()` of cooperative groups) | [`sync_grid`] |
//! | thread block clusters and distributed shared memory | [`cluster()`], [`sync_cluster`], [`Cluster::share`] |
//! | warps and groups of their lanes (cooperative groups) | [`mod@warp`]: [`warp()`], [`tiled_partition`], [`coalesced`], [`LaneGroup`] |
//! | warp-wide matrix multiplication on tensor cores (`mma.sync`, `wmma`) | [`mma`] |
//! | compile-time loop unrolling (`#pragma unroll`) | [`unroll()`] |
//! | memory brought to the L2 cache before it is read (`prefetch.global.L2`) | [`prefetch_l2`] |
//! | clocks, sleep, early exit, trap | [`clock()`], [`clock64`], [`global_timer`], [`nanosleep`], [`exit_thread()`], [`trap`] |
//! | functions imported from and exported to CUDA C and C++ | [`macro@device`] |
//! | mathematical functions, bit operations | [`Float`], [`FloatExt`], [`FastMath`], [`math`] |
//! | vector types (`float4`) that are loaded and stored as one | [`vector`] |
//! | 16-bit floats (`__half`, `__nv_bfloat16`), complex numbers | [`half`], [`complex`] |
//! | random number generators (cuRAND) | [`rng`] |
//! | output (`printf`) | [`print!`], [`println!`] |
//!
//! # What is safe
//! Safe kernels have no data races and no dangling references: inputs are read-only during the launch, each thread writes only
//! elements that it owns, the ownership of elements of shared arrays changes only at barriers, and everything else is atomic.
//! Indices are checked; launch contracts let the compiler remove checks that they prove.
//!
//! # Not enforced
//! | requirement | if it is violated on the GPU | how to find the error |
//! |---|---|---|
//! | All running threads of a block reach the same [`sync`], the same number of times, with the same shared arrays. | The block hangs, or threads are in different phases of a shared array, which is a data race. | The CPU device compares the barriers at which threads wait and the arrays passed to them, and reports the first two threads that differ. With `GPUKERNEL_CHECK=1`, it also reports a thread that ends while others wait at a barrier. |
//! | In nested loops of which the inner one has a barrier, all lanes of a warp run the same number of iterations of each loop. | The warp may hang although all lanes reach the barrier the same number of times: lanes that have left the inner loop wait behind it for the others to reconverge, while those wait for them at the barrier. | Not detected: the CPU device does not model warp divergence. |
//! | All threads of the grid reach the same [`sync_grid`], the same number of times, and none ends before. | The launch hangs if the first thread of a block is missing, unless a panic ended it: then the launch ends with that panic. Different calls are not told apart, so threads are in different phases. | The CPU device reports two threads of which one waits there and the other has ended or waits elsewhere. |
//! | All running threads of a cluster reach the same [`sync_cluster`] and the same [`Cluster::share`], the same number of times, and share the same array of each block. | The cluster hangs, or one block writes a shared array while another reads it. | The CPU device reports two blocks that wait in different places. |
//! | No block ends while others use its shared memory, because its threads ended ([`exit_thread()`], a panic) inside of [`Cluster::share`]. | The other blocks read and write memory that may belong to another block by then. | Not detected: the CPU device keeps the memory. A panic is an error in any case. |
//! | No thread accesses an element of an [`UnsafeSlice`] or [`UnsafeShared`] while another writes it. | The result is arbitrary. | On the CPU device with `GPUKERNEL_CHECK=1`, an error that names both threads and both source locations. Accesses through raw pointers are not checked. |
//! | A [`SharedAtomics`] or [`SharedCells`] array is initialized before it is read, with a barrier in between. | Its values are arbitrary. | On the CPU device with `GPUKERNEL_CHECK=1`, every byte of uninitialized memory is `0xa5`. |
//! | An [`Atomic`] is changed only by threads within the scope of the operation ([`mod@atomic`]). | Changes get lost. | Not detected: on the CPU device all scopes are the same. |
//! | Atomic operations in functions that are not inlined, and those with the scope [`System`](atomic::System), are not applied to local variables of a thread. | The launch fails, and the device becomes unusable. | Not detected: the CPU device has one address space. |
//! | All threads of a block make the same calls of a [`BlockScratch`] or [`SortScratch`] in the same order. | The block hangs, or results and the contents of shared memory are arbitrary. | The CPU device reports threads that wait elsewhere, and how many have ended before. |
//! | Reductions of a row ([`RowIterator::map`](pipeline::RowIterator::map)) are outside of closures that are called for items: `row.map(\|v\| v - row.max())` has one inside. | Threads have different numbers of items: the block hangs, or the result is arbitrary. | The CPU device panics, with how many threads came, if others have ended. |
//! | All running lanes of a group call the same operations of the group in the same order. | The warp hangs, or values are arbitrary. | The CPU device reports two threads and where they wait. |
//! | All 32 lanes of a [`ConvergedWarp`](mma::ConvergedWarp) execute the same matrix instruction, and none has ended. | The warp hangs, or the result is arbitrary. | The CPU device reports two threads and where they wait, or panics for a lane that has ended. |
//! | A thread that ends early ([`exit_thread()`], a panic) or forgets a [`PendingCopy`] or [`PendingBulkCopy`] ([`core::mem::forget`]) has waited for its copies. | PTX does not say whether the shared memory of a block is kept until they complete: they may write to that of another block. | Not detected: the CPU device copies at once, when the copy is started. |
//! | No thread that issues part of a copy to an [`AsyncShared`] array has ended before the copy is started; [`AsyncShared::copy_bulk`] is issued by the thread of rank 0. | The elements that it would have copied are arbitrary. | On the CPU device with `GPUKERNEL_CHECK=1`, every byte of uninitialized memory is `0xa5`. |
//! | The source lane of a shuffle has not ended. | The value is arbitrary. | A panic on the CPU device. |
//! | Destructors that run during a panic reach the same barrier or group operation in all panicking threads, or none, and neither panic nor call [`exit_thread()`]. | Nothing: panics on the GPU run no destructors. | The launch fails with the first panic. Threads that wait in destructors meet once all others of the block have ended. If they wait in different places, or one of them panics again or calls [`exit_thread()`], nothing can unwind them: the process ends with a message that names the kernel and the thread. The same holds for a thread that catches its end (`catch_unwind`) and waits again a thousand times. |
//! | Results do not depend on which lanes are [`coalesced`]. | They differ from launch to launch. | Compare launches: the CPU device groups all lanes that reach the same call. |
//! | A kernel terminates. | It runs until the driver's watchdog or the user ends the process. | It does not terminate on the CPU device either. |
//! | The stack is large enough for deep recursion. | Local memory overflows. | On the CPU device, where a thread has 1984 KiB of stack, the process ends with a message that names the kernel. |
//! | Results do not depend on the order in which threads change [`Atomic`]s, as sums of floating-point numbers do. | They differ in the last bits from launch to launch. | Compare with a tolerance. |
#![no_std]
// Code generated by the macros refers to `gpu_std`, in this crate too.
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
pub mod elementwise;
pub mod gufunc;
pub mod half;
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub mod host;
mod kernel;
pub mod math;
pub mod mma;
mod output;
#[doc(alias = "iterators", alias = "cub", alias = "fancy iterators")]
pub mod pipeline;
pub mod prelude;
#[doc(alias = "printf")]
pub mod print;
#[doc(alias = "curand", alias = "cuRAND", alias = "random")]
pub mod rng;
pub mod shared;
mod thread;
#[doc(
    alias = "float32x2",
    alias = "float32x3",
    alias = "float32x4",
    alias = "float64x2",
    alias = "float64x3"
)]
#[doc(
    alias = "int32x2",
    alias = "int32x3",
    alias = "int32x4",
    alias = "int64x2",
    alias = "uint32x4",
    alias = "uint8x4"
)]
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
pub use gpu_std_macros::{
    DeviceCopy, KernelParam, constant, device, guvectorize, instantiate, kernel, pipeline, print, println,
    reduction, vectorize,
};
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
    PerThread3dIter, PerThreadIter, PerThreadStrided, PerThreadStridedIter, PerWarp, PerWarpIter,
    UnsafeSlice,
};
#[doc(inline)]
pub use shared::{
    Phase, Shared, Shared2d, SharedAtomics, SharedCells, SharedElement, SharedSlice, SharedSliceView,
    SharedView, SharedView2d, UnsafeShared, sync, sync_all, sync_any, sync_count, sync_grid,
};
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
pub use thread::has_panicked;
#[doc(hidden)]
pub use thread::load_here;
pub use thread::{
    BlockStride, Dim3, GlobalDim3, GridStride, GridStride2d, GridStride3d, arch, block_dim, block_index,
    block_rank, block_stride, blocks_per_grid, clock, clock64, exit_thread, global_dim, global_index,
    global_rank, global_timer, grid_dim, grid_stride, grid_stride_2d, grid_stride_3d, nanosleep, prefetch_l2,
    thread_index, thread_rank, threads_per_block, threads_per_grid, trap, unroll,
};
#[doc(inline)]
pub use view::{View2d, View3d, ViewStrided};
#[doc(inline)]
pub use warp::{
    LaneGroup, WARP_SIZE, active_mask, coalesced, lane_index, lane_mask_eq, lane_mask_ge, lane_mask_gt,
    lane_mask_le, lane_mask_lt, tiled_partition, warp, warp_index, warp_stride, warps_per_block,
};
