//! Outputs of which each thread accesses only the elements that it owns.

use core::{fmt, iter::FusedIterator, marker::PhantomData};

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy,
    param::{Param, WriteStart},
    signature::Text,
    thread::grid_stride::{GridStride, grid_stride},
};

/// The elements of a slice that belong to the calling thread. Each element belongs to exactly one thread, whatever the size
/// of the grid.
///
/// Thread `i` of `n` owns the elements `i`, `i + n`, `i + 2n`, … where `i` is its [`global_rank`](crate::global_rank): a loop
/// over them is a grid-stride loop. A kernel that takes `PerThread` is launched along one axis unless its contract says more
/// (`dims = 2`).
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
///     for (i, y) in y {
///         *y += a * x[i];
///     }
/// }
/// ```
pub struct PerThread<'a, T> {
    start: *mut T,
    len: usize,
    lender: PhantomData<&'a mut [T]>,
}

impl<'a, T> PerThread<'a, T> {
    /// Returns the number of elements, those of other threads included.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements, for any thread.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Iterates over the elements of this thread, with their indices in the slice. For more than one pass; a `for` loop over
    /// the value itself makes one pass.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> PerThreadIter<'_, T> {
        PerThreadIter { indices: self.indices(), start: self.start, lender: PhantomData }
    }

    /// Returns the first element of this thread with its index, if it has any. It is the only one if the grid has a thread
    /// per element.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// #[kernel]
    /// pub fn square(x: &[f32], mut y: PerThread<f32>) {
    ///     if let Some((i, y)) = y.first_mut() {
    ///         *y = x[i] * x[i];
    ///     }
    /// }
    /// ```
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<(usize, &mut T)> {
        self.iter_mut().next()
    }

    /// Returns the element `index`, if it belongs to this thread. Costs a division; a loop costs none.
    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        // SAFETY: the element is this thread's, and borrowed from `self` exclusively.
        self.indices().takes(index).then(|| unsafe { &mut *self.start.add(index) })
    }

    #[inline(always)]
    fn indices(&self) -> GridStride {
        grid_stride(self.len)
    }
}

impl<T> fmt::Debug for PerThread<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerThread").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<'a, T> IntoIterator for PerThread<'a, T> {
    type Item = (usize, &'a mut T);
    type IntoIter = PerThreadIter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> PerThreadIter<'a, T> {
        PerThreadIter { indices: self.indices(), start: self.start, lender: PhantomData }
    }
}

impl<'a, T> IntoIterator for &'a mut PerThread<'_, T> {
    type Item = (usize, &'a mut T);
    type IntoIter = PerThreadIter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> PerThreadIter<'a, T> {
        self.iter_mut()
    }
}

/// The iterator of [`PerThread`].
pub struct PerThreadIter<'a, T> {
    indices: GridStride,
    start: *mut T,
    lender: PhantomData<&'a mut [T]>,
}

impl<T> fmt::Debug for PerThreadIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerThreadIter").field("indices", &self.indices).finish_non_exhaustive()
    }
}

impl<'a, T> Iterator for PerThreadIter<'a, T> {
    type Item = (usize, &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, &'a mut T)> {
        let index = self.indices.next()?;
        // SAFETY: the index is less than the length. Indices of one loop rise, those of other threads differ, and there is
        // one loop at a time because the `PerThread` is used up or borrowed: no other reference to this element exists.
        Some((index, unsafe { &mut *self.start.add(index) }))
    }
}

impl<T> FusedIterator for PerThreadIter<'_, T> {}

// SAFETY: `pack` takes a slice that the runtime borrows exclusively for the launch, and each thread uses only the elements
// of its own rank.
unsafe impl<'k, T: DeviceCopy> Param<'k> for PerThread<'k, T> {
    type Head = WriteStart<'k, T>;
    type Tail = usize;

    const DIMS: u32 = 1;
    const SIGNATURE: Text = Text::Of("PerThread", &[T::TYPE]);

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
