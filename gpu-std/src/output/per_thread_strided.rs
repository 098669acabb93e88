//! Strided outputs, of which each thread accesses only the elements that it owns.

use core::{fmt, iter::FusedIterator, marker::PhantomData};

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy,
    param::{Param, WriteStart},
    signature::Text,
    thread::grid_stride::{GridStride, grid_stride},
    view::layout,
};

/// The elements of a strided view that belong to the calling thread: [`PerThread`](crate::PerThread) for every n-th element
/// of a slice, or for a column of a matrix. The elements in between are not part of the launch.
///
/// Indices count the elements of the view. The launch passes `buffer.view_strided_mut(first, step)?` or
/// `buffer.view_2d_mut(columns)?.column(i)?`.
///
/// ```
/// use gpu_std::prelude::{*, memory::*};
///
/// #[kernel]
/// pub fn scatter(from: &[f32], to: PerThreadStrided<f32>) {
///     for (i, to) in to {
///         *to = from[i];
///     }
/// }
/// ```
pub struct PerThreadStrided<'a, T> {
    start: *mut T,
    layout: layout::StridedLayout,
    lender: PhantomData<&'a mut [T]>,
}

impl<'a, T> PerThreadStrided<'a, T> {
    /// Returns the number of elements, those of other threads included.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.layout.len
    }

    /// Returns whether there are no elements, for any thread.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.layout.len == 0
    }

    /// Iterates over the elements of this thread with their indices. For more than one pass; a `for` loop over the value
    /// itself makes one pass.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> PerThreadStridedIter<'_, T> {
        PerThreadStridedIter {
            indices: grid_stride(self.layout.len),
            start: self.start,
            layout: self.layout,
            lender: PhantomData,
        }
    }

    /// Returns the first element of this thread with its index, if it has any.
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<(usize, &mut T)> {
        self.iter_mut().next()
    }

    /// Returns the element `index`, if it belongs to this thread. Costs a division; a loop costs none.
    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        grid_stride(self.layout.len).takes(index).then(|| {
            // SAFETY: the element is this thread's, and borrowed from `self` exclusively.
            unsafe { &mut *self.start.add(self.layout.offset(index)) }
        })
    }
}

impl<T> fmt::Debug for PerThreadStrided<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerThreadStrided").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl<'a, T> IntoIterator for PerThreadStrided<'a, T> {
    type Item = (usize, &'a mut T);
    type IntoIter = PerThreadStridedIter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> PerThreadStridedIter<'a, T> {
        PerThreadStridedIter {
            indices: grid_stride(self.layout.len),
            start: self.start,
            layout: self.layout,
            lender: PhantomData,
        }
    }
}

impl<'a, T> IntoIterator for &'a mut PerThreadStrided<'_, T> {
    type Item = (usize, &'a mut T);
    type IntoIter = PerThreadStridedIter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> PerThreadStridedIter<'a, T> {
        self.iter_mut()
    }
}

/// The iterator of [`PerThreadStrided`].
pub struct PerThreadStridedIter<'a, T> {
    indices: GridStride,
    start: *mut T,
    layout: layout::StridedLayout,
    lender: PhantomData<&'a mut [T]>,
}

impl<T> fmt::Debug for PerThreadStridedIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerThreadStridedIter").field("indices", &self.indices).finish_non_exhaustive()
    }
}

impl<'a, T> Iterator for PerThreadStridedIter<'a, T> {
    type Item = (usize, &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, &'a mut T)> {
        let index = self.indices.next()?;
        // SAFETY: the index is less than the length, and a step is at least one element. For the rest as in `PerThreadIter`.
        Some((index, unsafe { &mut *self.start.add(self.layout.offset(index)) }))
    }
}

impl<T> FusedIterator for PerThreadStridedIter<'_, T> {}

// SAFETY: `pack` takes elements that the runtime borrows exclusively for the launch, and each thread uses only those of its own
// rank.
unsafe impl<'k, T: DeviceCopy> Param<'k> for PerThreadStrided<'k, T> {
    type Head = WriteStart<'k, T>;
    type Tail = layout::StridedLayout;

    const DIMS: u32 = 1;
    const SIGNATURE: Text = Text::Of("PerThreadStrided", &[T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(head: WriteStart<'k, T>, layout: layout::StridedLayout) -> Self {
        Self { start: head.as_mut_ptr(), layout, lender: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = R::ViewMut<'k, T, layout::StridedLayout>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        let view = R::raw_view_mut(&arg);
        args.push_memory(view.slice, Access::Write);
        args.push(view.layout);
    }
}
