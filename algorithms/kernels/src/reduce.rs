//! Reductions.

use gpu_std::prelude::{collective::BlockScratch, *};

use crate::{Element, Identity, tile};

/// Combines `initial` and all elements, `V` of which make a vector, to one value for each block of the grid. Several are combined by another launch of
/// one block, which has them as its elements.
///
/// The operator is associative and commutative: blocks take tiles in turns. Which elements are combined first depends on the number of elements and of
/// blocks alone, so that results have the same bits on each launch and each device.
#[kernel(block = 256)]
pub fn reduce<T: Element, O: Identity<T>, const V: usize>(
    x: &[T],
    initial: T,
    mut out: PerBlock<T>,
    mut scratch: BlockScratch<T>,
) {
    let operator = O::default();
    let mut sums = [O::IDENTITY; V];
    let mut tile = block_rank();
    let blocks = gpu_std::blocks_per_grid();
    while tile < x.len().div_ceil(tile::tile_len(V)) {
        let rows = tile::load::<T, V>(x, tile, O::IDENTITY);
        for row in rows {
            for lane in 0..V {
                sums[lane] = operator.combine(sums[lane], row[lane]);
            }
        }
        tile += blocks;
    }
    let mut sum = sums[0];
    for lane in 1..V {
        sum = operator.combine(sum, sums[lane]);
    }
    if let (Some(sum), Some((_, out))) = (scratch.reduce_to_first(sum, operator), out.first_mut()) {
        *out = operator.combine(initial, sum);
    }
}
