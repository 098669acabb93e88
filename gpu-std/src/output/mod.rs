//! Outputs: global memory that a kernel writes, divided among threads or blocks so that no two of them own the same element.

mod block_tiles;
mod per_block;
mod per_thread;
mod per_thread_2d;
mod per_thread_3d;
mod per_thread_strided;
mod unsafe_slice;

pub use block_tiles::{
    BlockTile, BlockTile2d, BlockTile2dIter, BlockTileIter, BlockTiles, BlockTiles2d, BlockTiles2dIter,
    BlockTilesIter,
};
pub use per_block::{PerBlock, PerBlockIter};
pub use per_thread::{PerThread, PerThreadIter};
pub use per_thread_2d::{PerThread2d, PerThread2dIter};
pub use per_thread_3d::{PerThread3d, PerThread3dIter};
pub use per_thread_strided::{PerThreadStrided, PerThreadStridedIter};
pub use unsafe_slice::UnsafeSlice;
