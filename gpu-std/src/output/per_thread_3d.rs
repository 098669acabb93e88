//! Volumes as outputs, of which each thread accesses only the elements that it owns.

use core::{fmt, iter::FusedIterator, marker::PhantomData};

#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy,
    param::{Param, WriteStart},
    signature::Text,
    thread::grid_stride::{GridStride3d, grid_stride_3d},
    view::layout,
};

/// The elements of a volume that belong to the calling thread. Each element belongs to exactly one thread, whatever the size
/// of the grid.
///
/// The thread's index in the grid gives its first element (x its column, y its row, z its layer); the others follow in steps
/// of the grid's dimensions. A kernel that takes `PerThread3d` is launched along three axes. The launch passes
/// `buffer.view_3d_mut(rows, columns)?`.
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn distances(volume: PerThread3d<f32>) {
///     for ((layer, row, column), voxel) in volume {
///         let [x, y, z] = [column, row, layer].map(|place| place as f32);
///         *voxel = (x * x + y * y + z * z).sqrt();
///     }
/// }
/// ```
pub struct PerThread3d<'a, T> {
    start: *mut T,
    layout: layout::Layout3d,
    lender: PhantomData<&'a mut [T]>,
}

impl<'a, T> PerThread3d<'a, T> {
    /// Returns the number of layers of the volume, those of other threads included.
    #[inline(always)]
    pub fn layers(&self) -> usize {
        self.layout.layers as usize
    }

    /// Returns the number of rows of a layer, those of other threads included.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.layout.rows as usize
    }

    /// Returns the number of columns of a layer, those of other threads included.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.layout.columns as usize
    }

    /// Iterates over the elements of this thread, with their positions `(layer, row, column)`. For more than one pass; a
    /// `for` loop over the value itself makes one pass.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> PerThread3dIter<'_, T> {
        PerThread3dIter { places: self.places(), start: self.start, layout: self.layout, lender: PhantomData }
    }

    /// Returns the first element of this thread with its position, if it has any. It is the only one if the grid has a thread
    /// per element.
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<((usize, usize, usize), &mut T)> {
        self.iter_mut().next()
    }

    /// Returns the element at `(layer, row, column)`, if it belongs to this thread. Costs divisions; a loop costs none.
    #[inline(always)]
    pub fn get_mut(&mut self, place: (usize, usize, usize)) -> Option<&mut T> {
        let (layer, row, column) = place;
        self.places().takes(layer, row, column).then(|| {
            // SAFETY: the element is this thread's, and borrowed from `self` exclusively.
            unsafe { &mut *self.start.add(self.layout.offset(place)) }
        })
    }

    #[inline(always)]
    fn places(&self) -> GridStride3d {
        grid_stride_3d(self.layers(), self.rows(), self.columns())
    }
}

impl<T> fmt::Debug for PerThread3d<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerThread3d").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl<'a, T> IntoIterator for PerThread3d<'a, T> {
    type Item = ((usize, usize, usize), &'a mut T);
    type IntoIter = PerThread3dIter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> PerThread3dIter<'a, T> {
        PerThread3dIter { places: self.places(), start: self.start, layout: self.layout, lender: PhantomData }
    }
}

impl<'a, T> IntoIterator for &'a mut PerThread3d<'_, T> {
    type Item = ((usize, usize, usize), &'a mut T);
    type IntoIter = PerThread3dIter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> PerThread3dIter<'a, T> {
        self.iter_mut()
    }
}

/// The iterator of [`PerThread3d`].
pub struct PerThread3dIter<'a, T> {
    places: GridStride3d,
    start: *mut T,
    layout: layout::Layout3d,
    lender: PhantomData<&'a mut [T]>,
}

impl<T> fmt::Debug for PerThread3dIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerThread3dIter").field("places", &self.places).finish_non_exhaustive()
    }
}

impl<'a, T> Iterator for PerThread3dIter<'a, T> {
    type Item = ((usize, usize, usize), &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<((usize, usize, usize), &'a mut T)> {
        let place = self.places.next()?;
        // SAFETY: the place is inside. Places of one loop come once, those of other threads differ, and there is one loop at a
        // time because the `PerThread3d` is used up or borrowed: no other reference to this element exists.
        Some((place, unsafe { &mut *self.start.add(self.layout.offset(place)) }))
    }
}

impl<T> FusedIterator for PerThread3dIter<'_, T> {}

// SAFETY: `pack` takes a volume that the runtime borrows exclusively for the launch, and each thread uses only the places of its
// own index in the grid.
unsafe impl<'k, T: DeviceCopy> Param<'k> for PerThread3d<'k, T> {
    type Head = WriteStart<'k, T>;
    type Tail = layout::Layout3d;

    const DIMS: u32 = 3;
    const SIGNATURE: Text = Text::Of("PerThread3d", &[T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(head: WriteStart<'k, T>, layout: layout::Layout3d) -> Self {
        Self { start: head.as_mut_ptr(), layout, lender: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = R::ViewMut<'k, T, layout::Layout3d>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        let view = R::raw_view_mut(&arg);
        args.push_memory(view.slice, Access::Write);
        args.push(view.layout);
    }
}
