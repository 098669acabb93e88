//! Outputs in tiles: each block owns whole tiles, and its threads the elements in them by their index in the block.

mod line;
mod plane;

pub use line::{BlockTile, BlockTileIter, BlockTiles, BlockTilesIter};
pub use plane::{BlockTile2d, BlockTile2dIter, BlockTiles2d, BlockTiles2dIter};
