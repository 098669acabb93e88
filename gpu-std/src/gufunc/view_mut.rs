//! Cores that a thread writes.

use core::{
    fmt,
    marker::PhantomData,
    ops::{Index, IndexMut},
    slice,
};

use super::{
    CoreView,
    layout::{CoreLayout, CorePlace, outside},
    view::offset,
};

/// An output of one core call that one thread computes: an array of `N` axes of any strides, of which that thread alone has the elements (ndarray's
/// `ArrayViewMut`).
///
/// It is indexed as [`CoreView`]. Elements have their values from before the launch until they are written.
///
/// ```
/// use gpu_std::gufunc::{CoreView, CoreViewMut};
///
/// fn running_sums(x: CoreView<i32, 1>, mut sums: CoreViewMut<i32, 1>) {
///     let mut sum = 0;
///     for i in 0..x.len() {
///         sum += x[i];
///         sums[i] = sum;
///     }
/// }
///
/// let mut sums = [0; 3];
/// running_sums(CoreView::from_shape([3], &[1, 2, 3]).unwrap(), CoreViewMut::from_shape([3], &mut sums).unwrap());
/// assert_eq!(sums, [1, 3, 6]);
/// ```
#[doc(alias = "ArrayViewMut")]
pub struct CoreViewMut<'a, T, const N: usize> {
    start: *mut T,
    layout: CoreLayout<N>,
    lender: PhantomData<&'a mut [T]>,
}

impl<'a, T, const N: usize> CoreViewMut<'a, T, N> {
    /// # Safety
    /// `start` is the element of all indices 0 of such a layout, if that has elements; no two positions are the same one, and nothing else uses them for the
    /// lifetime.
    #[inline(always)]
    pub(super) unsafe fn new(start: *mut T, layout: CoreLayout<N>) -> Self {
        Self { start, layout, lender: PhantomData }
    }

    /// Makes a view of elements in row-major order, to call a core function by hand; `None` if there are fewer than the shape has.
    ///
    /// ```
    /// use gpu_std::gufunc::CoreViewMut;
    ///
    /// let mut elements = [0; 4];
    /// let mut a = CoreViewMut::from_shape([2, 2], &mut elements).unwrap();
    /// a[(1, 0)] = 5;
    /// a.row_mut(0)[1] = 7;
    /// assert_eq!(elements, [0, 7, 5, 0]);
    /// ```
    #[inline]
    pub fn from_shape(shape: [usize; N], elements: &'a mut [T]) -> Option<Self> {
        let layout = CoreLayout::standard(shape, elements.len())?;
        // SAFETY: all are inside of the slice, which stays borrowed, and follow each other.
        Some(unsafe { Self::new(elements.as_mut_ptr(), layout) })
    }

    /// Returns the number of elements along each axis.
    #[inline(always)]
    pub fn shape(&self) -> [usize; N] {
        self.layout.shape()
    }

    /// Returns the number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Returns whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.layout.shape.contains(&0)
    }

    /// Returns the core for reading.
    #[inline(always)]
    pub fn view(&self) -> CoreView<'_, T, N> {
        // SAFETY: the elements stay borrowed from `self`.
        unsafe { CoreView::new(self.start, self.layout) }
    }

    /// Returns the core for writing, to pass it on and use it afterwards.
    #[inline(always)]
    pub fn view_mut(&mut self) -> CoreViewMut<'_, T, N> {
        // SAFETY: the elements stay borrowed from `self`.
        unsafe { CoreViewMut::new(self.start, self.layout) }
    }

    /// Returns the element at a position, or `None` if that is out of bounds.
    #[inline(always)]
    pub fn get_mut(&mut self, place: impl CorePlace<N>) -> Option<&mut T> {
        let indices = place.indices();
        // SAFETY: the element is inside, and borrowed from `self`.
        self.layout.holds(indices).then(|| unsafe { &mut *self.start.offset(self.layout.offset(indices)) })
    }

    /// Returns all elements in row-major order as a slice, if they lie so.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        // SAFETY: so many elements follow each other from the first on, and are borrowed from `self`.
        self.layout.is_standard().then(|| unsafe { slice::from_raw_parts_mut(self.start, self.len()) })
    }

    /// The core without an axis, at an index along that.
    #[inline(always)]
    #[track_caller]
    fn at<const M: usize>(&mut self, axis: usize, index: usize) -> CoreViewMut<'_, T, M> {
        if index >= self.layout.extent(axis) {
            outside([index], [self.layout.extent(axis)])
        }
        let mut indices = [0; N];
        indices[axis] = index;
        // SAFETY: as in `CoreView::at`; the elements are borrowed from `self`.
        unsafe {
            CoreViewMut::new(offset(self.start, &self.layout, indices).cast_mut(), self.layout.without(axis))
        }
    }
}

impl<T> CoreViewMut<'_, T, 1> {
    /// Iterates over the elements in order.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> + ExactSizeIterator {
        let (start, layout) = (self.start, self.layout);
        // SAFETY: the index is inside, and comes once; the elements are borrowed from `self`.
        (0..self.len()).map(move |index| unsafe { &mut *start.offset(layout.offset([index])) })
    }
}

impl<T> CoreViewMut<'_, T, 2> {
    /// Returns the number of rows.
    #[doc(alias = "nrows")]
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.layout.extent(0)
    }

    /// Returns the number of columns.
    #[doc(alias = "ncols")]
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.layout.extent(1)
    }

    /// Returns a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline(always)]
    #[track_caller]
    pub fn row_mut(&mut self, row: usize) -> CoreViewMut<'_, T, 1> {
        self.at(0, row)
    }

    /// Returns a column.
    ///
    /// # Panics
    /// If there is no such column.
    #[inline(always)]
    #[track_caller]
    pub fn column_mut(&mut self, column: usize) -> CoreViewMut<'_, T, 1> {
        self.at(1, column)
    }
}

impl<T> CoreViewMut<'_, T, 3> {
    /// Returns the matrix at an index along the first axis.
    ///
    /// # Panics
    /// If there is no such layer.
    #[inline(always)]
    #[track_caller]
    pub fn layer_mut(&mut self, layer: usize) -> CoreViewMut<'_, T, 2> {
        self.at(0, layer)
    }
}

impl<T, P: CorePlace<N>, const N: usize> Index<P> for CoreViewMut<'_, T, N> {
    type Output = T;

    #[inline(always)]
    #[track_caller]
    fn index(&self, place: P) -> &T {
        let indices = place.indices();
        if !self.layout.holds(indices) {
            outside(indices, self.shape())
        }
        // SAFETY: the element is inside, and borrowed from `self`.
        unsafe { &*self.start.offset(self.layout.offset(indices)) }
    }
}

impl<T, P: CorePlace<N>, const N: usize> IndexMut<P> for CoreViewMut<'_, T, N> {
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, place: P) -> &mut T {
        let indices = place.indices();
        if !self.layout.holds(indices) {
            outside(indices, self.shape())
        }
        // SAFETY: the element is inside, and borrowed from `self`.
        unsafe { &mut *self.start.offset(self.layout.offset(indices)) }
    }
}

impl<T, const N: usize> fmt::Debug for CoreViewMut<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreViewMut").field("layout", &self.layout).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_written() {
        let mut elements = [0; 6];
        let mut a = CoreViewMut::from_shape([2, 3], &mut elements).unwrap();
        a[(0, 1)] = 5;
        *a.get_mut([0, 0]).unwrap() += 4;
        a.row_mut(1).iter_mut().for_each(|x| *x = 7);
        a.column_mut(2)[0] = 9;
        a.view_mut().as_mut_slice().unwrap()[3] += a.view()[(0, 1)];
        assert_eq!((a.rows(), a.columns(), a.get_mut((2, 0))), (2, 3, None));
        assert_eq!(elements, [4, 5, 9, 12, 7, 7]);
    }
}
