//! A slice in tiles that belong to blocks.

use core::{fmt, iter::FusedIterator, marker::PhantomData};

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy,
    param::{Param, WriteStart},
    signature::Text,
    thread::grid_stride::GridStride,
    thread_rank, threads_per_block,
};

/// A slice divided into tiles of `N` elements, each of which belongs to one block: block `i` of `n` owns the tiles `i`,
/// `i + n`, …
///
/// All threads of a block visit the same tiles in the same order, so the loop over them may contain barriers. Within a tile,
/// thread `i` of `n` of the block owns the elements `i`, `i + n`, … as in a [`Shared`](crate::Shared) array. The last tile
/// may be shorter. A kernel that takes `BlockTiles` is launched along one axis unless its contract says more.
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// Reverses each 256 elements.
/// #[kernel(block = 256)]
/// pub fn reverse_tiles(x: &[f32], y: BlockTiles<f32, 256>, mut part: Shared<f32, 256>) {
///     for mut tile in y {
///         let (first, len) = (tile.first(), tile.len());
///         for (i, element) in &mut part {
///             *element = x.get(first + i).copied().unwrap_or(0.0);
///         }
///         let read = sync(part);
///         for (i, y) in &mut tile {
///             *y = read[len - 1 - i];
///         }
///         part = sync(read);
///     }
/// }
/// ```
pub struct BlockTiles<'a, T, const N: usize> {
    start: *mut T,
    len: usize,
    lender: PhantomData<&'a mut [T]>,
}

impl<'a, T, const N: usize> BlockTiles<'a, T, N> {
    /// Returns the number of elements, those of other blocks included.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements, for any block.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of tiles of all blocks together.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.len.div_ceil(N)
    }

    /// Iterates over the tiles of this block. For more than one pass; a `for` loop over the value itself makes one pass.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> BlockTilesIter<'_, T, N> {
        BlockTilesIter {
            numbers: GridStride::of_blocks(self.count()),
            start: self.start,
            len: self.len,
            lender: PhantomData,
        }
    }

    /// Returns the first tile of this block, if it has any. It is the only one if the grid has a block per tile, as
    /// `for_each_tile(len, N)` makes it.
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<BlockTile<'_, T, N>> {
        self.iter_mut().next()
    }
}

impl<T, const N: usize> fmt::Debug for BlockTiles<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockTiles").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<'a, T, const N: usize> IntoIterator for BlockTiles<'a, T, N> {
    type Item = BlockTile<'a, T, N>;
    type IntoIter = BlockTilesIter<'a, T, N>;

    #[inline(always)]
    fn into_iter(self) -> BlockTilesIter<'a, T, N> {
        BlockTilesIter {
            numbers: GridStride::of_blocks(self.count()),
            start: self.start,
            len: self.len,
            lender: PhantomData,
        }
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a mut BlockTiles<'_, T, N> {
    type Item = BlockTile<'a, T, N>;
    type IntoIter = BlockTilesIter<'a, T, N>;

    #[inline(always)]
    fn into_iter(self) -> BlockTilesIter<'a, T, N> {
        self.iter_mut()
    }
}

/// The iterator of [`BlockTiles`].
pub struct BlockTilesIter<'a, T, const N: usize> {
    numbers: GridStride,
    start: *mut T,
    len: usize,
    lender: PhantomData<&'a mut [T]>,
}

impl<T, const N: usize> fmt::Debug for BlockTilesIter<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockTilesIter").field("numbers", &self.numbers).finish_non_exhaustive()
    }
}

impl<'a, T, const N: usize> Iterator for BlockTilesIter<'a, T, N> {
    type Item = BlockTile<'a, T, N>;

    #[inline(always)]
    fn next(&mut self) -> Option<BlockTile<'a, T, N>> {
        let number = self.numbers.next()?;
        // SAFETY: the tile begins inside of the slice, since its number is less than their count.
        let (first, start) = unsafe {
            let first = number.unchecked_mul(N);
            (first, self.start.add(first))
        };
        Some(BlockTile { start, first, len: self.len - first, lender: PhantomData })
    }
}

impl<T, const N: usize> FusedIterator for BlockTilesIter<'_, T, N> {}

/// A tile of [`BlockTiles`], of at most `N` elements. The calling thread accesses those that it owns.
pub struct BlockTile<'a, T, const N: usize> {
    start: *mut T,
    first: usize,
    /// From the start of the tile to the end of the slice, which may be past the end of the tile.
    len: usize,
    lender: PhantomData<&'a mut [T]>,
}

impl<T, const N: usize> BlockTile<'_, T, N> {
    /// Returns the index of the tile's first element in the slice.
    #[inline(always)]
    pub fn first(&self) -> usize {
        self.first
    }

    /// Returns the number of elements in the tile, those of other threads included: `N`, or less for the last tile of a
    /// slice.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len.min(N)
    }

    /// Returns `false`: a tile has at least one element.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the elements of this thread, with their indices in the tile.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> BlockTileIter<'_, T, N> {
        BlockTileIter { round: 0, start: self.start, len: self.len, lender: PhantomData }
    }

    /// Returns the first element of this thread with its index in the tile, if it has any.
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<(usize, &mut T)> {
        self.iter_mut().next()
    }

    /// Returns the element with this index in the tile, if it belongs to this thread. Costs a division; a loop costs none.
    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let mine = index < self.len() && index % threads_per_block() as usize == thread_rank() as usize;
        // SAFETY: the element is inside, this thread's, and borrowed from `self` exclusively.
        mine.then(|| unsafe { &mut *self.start.add(index) })
    }
}

impl<T, const N: usize> fmt::Debug for BlockTile<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockTile")
            .field("first", &self.first)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a mut BlockTile<'_, T, N> {
    type Item = (usize, &'a mut T);
    type IntoIter = BlockTileIter<'a, T, N>;

    #[inline(always)]
    fn into_iter(self) -> BlockTileIter<'a, T, N> {
        self.iter_mut()
    }
}

/// The iterator of [`BlockTile::iter_mut`].
pub struct BlockTileIter<'a, T, const N: usize> {
    /// Counts from 0, the same for all threads: where the contract fixes the block, the number of rounds is a constant, and the
    /// loop unrolls.
    round: usize,
    start: *mut T,
    len: usize,
    lender: PhantomData<&'a mut [T]>,
}

impl<T, const N: usize> fmt::Debug for BlockTileIter<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockTileIter").field("round", &self.round).finish_non_exhaustive()
    }
}

impl<'a, T, const N: usize> Iterator for BlockTileIter<'a, T, N> {
    type Item = (usize, &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, &'a mut T)> {
        if self.round >= N {
            return None;
        }
        // `round` is less than `N`, at most `isize::MAX` (`assemble`), and a rank less than 1024: nothing wraps.
        let index = (thread_rank() as usize).wrapping_add(self.round);
        self.round = self.round.saturating_add(threads_per_block() as usize);
        // SAFETY: the index is inside. Indices of one loop rise, those of other threads differ, those of other blocks are in
        // other tiles, and there is one loop at a time because the tile is borrowed: no other reference to this element
        // exists.
        (index < N && index < self.len).then(|| (index, unsafe { &mut *self.start.add(index) }))
    }
}

impl<T, const N: usize> FusedIterator for BlockTileIter<'_, T, N> {}

// SAFETY: `pack` takes a slice that the runtime borrows exclusively for the launch, tiles of one block are not those of
// another, and each thread uses only its own elements of them.
unsafe impl<'k, T: DeviceCopy, const N: usize> Param<'k> for BlockTiles<'k, T, N> {
    type Head = WriteStart<'k, T>;
    type Tail = usize;

    const DIMS: u32 = 1;
    const SIGNATURE: Text = Text::Of("BlockTiles", &[T::TYPE, Text::Number(N as i128)]);

    #[inline(always)]
    unsafe fn assemble(head: WriteStart<'k, T>, &len: &'k usize) -> Self {
        // Every `BlockTiles` is made here, so that its methods need no check.
        const {
            assert!(N > 0, "a tile has at least one element");
            assert!(N <= isize::MAX as usize, "a tile has at most isize::MAX elements");
        }
        Self { start: head.as_mut_ptr(), len, lender: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = &'k mut R::Slice<T>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: &'k mut R::Slice<T>, args: &mut PackedArgs) {
        args.push_slice(R::raw_slice(arg), Access::Write);
    }
}
