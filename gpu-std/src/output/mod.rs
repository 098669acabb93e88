//! Outputs: global memory that a kernel writes, divided among threads or blocks so that no two of them own the same element.

mod block_tiles;
pub(crate) mod owned;
mod per_block;
mod per_thread;
mod per_warp;
mod unsafe_slice;

pub use block_tiles::{
    BlockTile, BlockTile2d, BlockTile2dIter, BlockTileIter, BlockTiles, BlockTiles2d, BlockTiles2dIter,
    BlockTilesIter,
};
pub use per_block::{PerBlock, PerBlockIter};
pub use per_thread::{
    PerThread, PerThread2d, PerThread2dIter, PerThread3d, PerThread3dIter, PerThreadIter, PerThreadStrided,
    PerThreadStridedIter,
};
pub use per_warp::{PerWarp, PerWarpIter};
pub use unsafe_slice::UnsafeSlice;
