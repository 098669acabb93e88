//! Outputs with one element per block.

use core::{fmt, iter::FusedIterator, marker::PhantomData};

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy, block_rank, blocks_per_grid,
    param::{Param, WriteStart},
    signature::Text,
    thread::grid_stride::GridStride,
    thread_rank,
};

/// The elements of a slice that belong to the calling block, written by its first thread: for results of which each block has
/// one, such as partial sums.
///
/// Block `i` of `n` owns the elements `i`, `i + n`, … where `i` is its [`block_rank`]. Only its thread with [`thread_rank`] 0
/// gets them, the others get none. A kernel that takes `PerBlock` is launched along one axis unless its contract says more.
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// The sum of each 256 elements.
/// #[kernel(block = 256)]
/// pub fn sums(x: &[f32], mut sums: PerBlock<f32>, mut part: Shared<f32, 256>) {
///     for (i, element) in &mut part {
///         *element = x.get(block_rank() * 256 + i).copied().unwrap_or(0.0);
///     }
///     let part = sync(part);
///     if let Some((_, sum)) = sums.first_mut() {
///         *sum = part.iter().sum();
///     }
/// }
/// ```
pub struct PerBlock<'a, T> {
    start: *mut T,
    len: usize,
    lender: PhantomData<&'a mut [T]>,
}

impl<'a, T> PerBlock<'a, T> {
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

    /// Iterates over the elements of this block with their indices, in its first thread; over nothing in the others.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> PerBlockIter<'_, T> {
        PerBlockIter { indices: self.indices(), start: self.start, lender: PhantomData }
    }

    /// Returns the first element of this block with its index, in its first thread. It is the only one if the grid has a
    /// block per element.
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<(usize, &mut T)> {
        self.iter_mut().next()
    }

    /// Returns the element `index` in the first thread of the block that owns it. Costs a division; a loop costs none.
    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let mine = thread_rank() == 0 && GridStride::of_blocks(self.len).takes(index);
        // SAFETY: the element is this thread's, and borrowed from `self` exclusively.
        mine.then(|| unsafe { &mut *self.start.add(index) })
    }

    #[inline(always)]
    fn indices(&self) -> GridStride {
        GridStride::of_blocks(if thread_rank() == 0 { self.len } else { 0 })
    }
}

impl GridStride {
    /// The indices below `len` that the calling block takes.
    #[inline(always)]
    pub(crate) fn of_blocks(len: usize) -> Self {
        Self::new(block_rank(), len, blocks_per_grid())
    }
}

impl<T> fmt::Debug for PerBlock<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerBlock").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<'a, T> IntoIterator for PerBlock<'a, T> {
    type Item = (usize, &'a mut T);
    type IntoIter = PerBlockIter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> PerBlockIter<'a, T> {
        PerBlockIter { indices: self.indices(), start: self.start, lender: PhantomData }
    }
}

impl<'a, T> IntoIterator for &'a mut PerBlock<'_, T> {
    type Item = (usize, &'a mut T);
    type IntoIter = PerBlockIter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> PerBlockIter<'a, T> {
        self.iter_mut()
    }
}

/// The iterator of [`PerBlock`].
pub struct PerBlockIter<'a, T> {
    indices: GridStride,
    start: *mut T,
    lender: PhantomData<&'a mut [T]>,
}

impl<T> fmt::Debug for PerBlockIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerBlockIter").field("indices", &self.indices).finish_non_exhaustive()
    }
}

impl<'a, T> Iterator for PerBlockIter<'a, T> {
    type Item = (usize, &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, &'a mut T)> {
        let index = self.indices.next()?;
        // SAFETY: the index is less than the length. Indices of one loop rise, those of other blocks differ, only the first
        // thread of a block has any, and there is one loop at a time because the `PerBlock` is used up or borrowed.
        Some((index, unsafe { &mut *self.start.add(index) }))
    }
}

impl<T> FusedIterator for PerBlockIter<'_, T> {}

// SAFETY: `pack` takes a slice that the runtime borrows exclusively for the launch, and each thread uses only its own elements.
unsafe impl<'k, T: DeviceCopy> Param<'k> for PerBlock<'k, T> {
    type Head = WriteStart<'k, T>;
    type Tail = usize;

    const DIMS: u32 = 1;
    const SIGNATURE: Text = Text::Of("PerBlock", &[T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(head: WriteStart<'k, T>, len: usize) -> Self {
        Self { start: head.as_mut_ptr(), len, lender: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = &'k mut R::Slice<T>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: &'k mut R::Slice<T>, args: &mut PackedArgs) {
        let slice = R::raw_slice(arg);
        args.push_memory(slice, Access::Write);
        args.push(slice.len);
    }
}
