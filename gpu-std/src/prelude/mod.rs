//! The names that most kernels use: `use gpu_std::prelude::*;`.
//!
//! Less common names are in preludes of their own: `use gpu_std::prelude::{*, warp::*};`
//!
//! | prelude | for |
//! |---|---|
//! | [`warp`] | warps, tiles of lanes, shuffles and votes |
//! | [`collective`] | block-wide reductions, scans and radix sort, barriers with a vote (`__syncthreads_count`) |
//! | [`async_copy`] | asynchronous copies to shared memory: `cp.async`, `cp.async.bulk` |
//! | [`memory`] | strided parameters, views of shared arrays, relaxed cells, memory without compile-time race freedom |
//! | [`cluster`] | thread block clusters, the barrier of the grid |
//! | [`math`] | arithmetic with a chosen rounding mode |
//! | [`index`] | index and dimensions of the grid |
//! | [`mma`] | matrix instructions (`mma.sync`) |
//!
//! `f16` is [`half::f16`](crate::half::f16): Rust's type of this name is not stable.
//!
//! In a crate that is not `no_std`, `println!` and `print!` come from both std and this prelude, which is an error of rustc
//! where they are used: import one of them by name.

pub use crate::{
    Atomic, BlockTiles, BlockTiles2d, DeviceCopy, Dim3, FastMath, Float, FloatExt, KernelParam, PerBlock,
    PerThread, PerThread2d, PerThread3d, Shared, Shared2d, SharedAtomics, SharedSlice, View2d, View3d,
    block_dim, block_index, block_rank, block_stride, global_index, global_rank, grid_dim, grid_stride,
    grid_stride_2d, grid_stride_3d, guvectorize,
    half::{bf16, f16},
    instantiate, kernel, pipeline, print, println, reduction, sync, thread_index, thread_rank,
    threads_per_block, threads_per_grid, unroll, vectorize,
};

/// Warps, tiles of lanes, shuffles and votes.
pub mod warp {
    pub use crate::PerWarp;
    pub use crate::warp::{
        Coalesced, LaneGroup, WARP_SIZE, Warp, WarpTile, active_mask, coalesced, lane_index, lane_mask_eq,
        lane_mask_ge, lane_mask_gt, lane_mask_le, lane_mask_lt, tiled_partition, warp, warp_index,
        warp_stride, warps_per_block,
    };
}

/// Block-wide reductions, scans and radix sort, barriers with a vote (`__syncthreads_count`).
pub mod collective {
    pub use crate::{
        collective::{BitAnd, BitOr, BitXor, BlockScratch, Max, Min, Operator, Product, SortScratch, Sum},
        sync_all, sync_any, sync_count,
    };
}

/// Asynchronous copies to shared memory: `cp.async`, `cp.async.bulk`.
pub mod async_copy {
    pub use crate::async_copy::{
        AsyncShared, AsyncShared2d, AsyncSharedView, AsyncSharedView2d, Mbarrier, PendingBulkCopy,
        PendingCopy, Pipeline, PipelineRest, Ready,
    };
}

/// Strided parameters, views of shared arrays, relaxed cells, memory without compile-time race freedom.
pub mod memory {
    pub use crate::{
        BlockTile, BlockTile2d, PerThreadStrided, RelaxedCell, SharedCells, SharedSliceView, SharedView,
        SharedView2d, UnsafeShared, UnsafeSlice, ViewStrided,
    };
}

/// Thread block clusters, the barrier of the grid.
pub mod cluster {
    pub use crate::{Cluster, cluster, sync_cluster, sync_grid};
}

/// Matrix instructions (`mma.sync`).
pub mod mma {
    pub use crate::mma::{
        Accumulator, ConvergedWarp, FragmentA, FragmentB, MmaAccumulator, MmaElement, MmaOutput, Tf32,
    };
}

/// Arithmetic with a chosen rounding mode.
pub mod math {
    pub use crate::{RoundedArithmetic, Rounding};
}

/// Index and dimensions of the grid, counted in threads and in blocks.
pub mod index {
    pub use crate::{GlobalDim3, blocks_per_grid, global_dim};
}
