//! Matrices as outputs, of which each thread accesses only the elements that it owns.

use core::{fmt, iter::FusedIterator, marker::PhantomData};

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy,
    param::{Param, WriteStart},
    signature::Text,
    thread::grid_stride::{GridStride2d, grid_stride_2d},
    view::layout,
};

/// The elements of a row-major matrix that belong to the calling thread. Each element belongs to exactly one thread, whatever
/// the size of the grid.
///
/// The thread's index in the grid gives its first element (x its column, y its row); the others follow in steps of the grid's
/// dimensions. A kernel that takes `PerThread2d` is launched along two axes unless its contract says otherwise. The launch
/// passes `buffer.view_2d_mut(columns)?`, or a part of it.
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn gradient(image: PerThread2d<u8>) {
///     let columns = image.columns();
///     for ((_, column), pixel) in image {
///         *pixel = (column * 255 / columns) as u8;
///     }
/// }
/// ```
pub struct PerThread2d<'a, T> {
    start: *mut T,
    layout: layout::Layout2d,
    lender: PhantomData<&'a mut [T]>,
}

impl<'a, T> PerThread2d<'a, T> {
    /// Returns the number of rows of the matrix, those of other threads included.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.layout.rows as usize
    }

    /// Returns the number of columns of the matrix, those of other threads included.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.layout.columns as usize
    }

    /// Iterates over the elements of this thread, with their positions `(row, column)`. For more than one pass; a `for` loop
    /// over the value itself makes one pass.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> PerThread2dIter<'_, T> {
        PerThread2dIter { places: self.places(), start: self.start, layout: self.layout, lender: PhantomData }
    }

    /// Returns the first element of this thread with its position, if it has any. It is the only one if the grid has a thread
    /// per element.
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<((usize, usize), &mut T)> {
        self.iter_mut().next()
    }

    /// Returns the element at `(row, column)`, if it belongs to this thread. Costs divisions; a loop costs none.
    #[inline(always)]
    pub fn get_mut(&mut self, (row, column): (usize, usize)) -> Option<&mut T> {
        self.places().takes(row, column).then(|| {
            // SAFETY: the element is this thread's, and borrowed from `self` exclusively.
            unsafe { &mut *self.start.add(self.layout.offset((row, column))) }
        })
    }

    #[inline(always)]
    fn places(&self) -> GridStride2d {
        grid_stride_2d(self.rows(), self.columns())
    }
}

impl<T> fmt::Debug for PerThread2d<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerThread2d").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl<'a, T> IntoIterator for PerThread2d<'a, T> {
    type Item = ((usize, usize), &'a mut T);
    type IntoIter = PerThread2dIter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> PerThread2dIter<'a, T> {
        PerThread2dIter { places: self.places(), start: self.start, layout: self.layout, lender: PhantomData }
    }
}

impl<'a, T> IntoIterator for &'a mut PerThread2d<'_, T> {
    type Item = ((usize, usize), &'a mut T);
    type IntoIter = PerThread2dIter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> PerThread2dIter<'a, T> {
        self.iter_mut()
    }
}

/// The iterator of [`PerThread2d`].
pub struct PerThread2dIter<'a, T> {
    places: GridStride2d,
    start: *mut T,
    layout: layout::Layout2d,
    lender: PhantomData<&'a mut [T]>,
}

impl<T> fmt::Debug for PerThread2dIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerThread2dIter").field("places", &self.places).finish_non_exhaustive()
    }
}

impl<'a, T> Iterator for PerThread2dIter<'a, T> {
    type Item = ((usize, usize), &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<((usize, usize), &'a mut T)> {
        let place = self.places.next()?;
        // SAFETY: row and column are less than the extents. Places of one loop come once, those of other threads differ, and
        // there is one loop at a time because the `PerThread2d` is used up or borrowed: no other reference to this element exists.
        Some((place, unsafe { &mut *self.start.add(self.layout.offset(place)) }))
    }
}

impl<T> FusedIterator for PerThread2dIter<'_, T> {}

// SAFETY: `pack` takes rows that the runtime borrows exclusively for the launch, and each thread uses only the places of its
// own index in the grid.
unsafe impl<'k, T: DeviceCopy> Param<'k> for PerThread2d<'k, T> {
    type Head = WriteStart<'k, T>;
    type Tail = layout::Layout2d;

    const DIMS: u32 = 2;
    const SIGNATURE: Text = Text::Of("PerThread2d", &[T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(head: WriteStart<'k, T>, layout: layout::Layout2d) -> Self {
        Self { start: head.as_mut_ptr(), layout, lender: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = R::ViewMut<'k, T, layout::Layout2d>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        let view = R::raw_view_mut(&arg);
        args.push_memory(view.slice, Access::Write);
        args.push(view.layout);
    }
}
