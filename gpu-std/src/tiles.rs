//! Outputs in tiles: each block owns whole tiles, and its threads the elements in them by their place in the block.

mod line;
mod plane;

pub use line::{Tile, TileIter, Tiles, TilesIter};
pub use plane::{Tile2d, Tile2dIter, Tiles2d, Tiles2dIter};
