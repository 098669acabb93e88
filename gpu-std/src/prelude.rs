//! Everything that kernels commonly use: `use gpu_std::prelude::*;`.

pub use crate::collective::{
    BitAnd, BitOr, BitXor, BlockScratch, Max, Min, Operator, Product, SortScratch, Sum,
};
pub use crate::math::{FastMath, Float, FloatExt, RoundedArithmetic, Rounding};
pub use crate::shared::{SharedSlice, SharedSliceView};
pub use crate::tiles::{Tile, Tile2d, Tiles, Tiles2d};
pub use crate::view::{Strided, View2d, View3d};
pub use crate::{
    Atomic, DeviceCopy, Dim3, GlobalDim3, PerThread, PerThread2d, RelaxedCell, Shared, Shared2d,
    SharedAtomics, SharedCells, SharedView, SharedView2d, UnsafeShared, UnsafeSlice, block_dim, block_index,
    global_dim, global_index, global_rank, grid_dim, grid_stride, grid_stride_2d, grid_stride_3d, kernel,
    sync, thread_index, thread_rank, threads_per_block, threads_per_grid,
};
pub use crate::{CopyBarrier, Pipeline, Staged, Staged2d, StagedView, StagedView2d, mma::WarpTiles2d};
pub use crate::{PerBlock, PerThread3d, PerThreadStrided, block_rank, blocks_per_grid};
pub use crate::{
    barrier::{sync_all, sync_any, sync_count, sync_grid},
    cluster::{cluster, sync_cluster},
    warp::{
        LaneGroup, WARP_SIZE, active_mask, coalesced, lane_index, lane_mask_eq, lane_mask_ge, lane_mask_gt,
        lane_mask_le, lane_mask_lt, tile, warp, warp_index, warps_per_block,
    },
};
