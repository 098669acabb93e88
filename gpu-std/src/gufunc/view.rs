//! Cores that are read.

use core::{fmt, marker::PhantomData, ops::Index, slice};

use super::layout::{CoreLayout, CorePlace, outside};

/// An input of one core call: an array of `N` axes of any strides, which is not written during the launch (ndarray's `ArrayView`).
///
/// It is indexed as ndarray's are: `x[i]`, `a[(row, column)]`, `a[[row, column]]`. Indices are checked; in the kernels of
/// [`guvectorize`](macro@crate::guvectorize) the checks of loops over the core dimensions vanish, because each of these is one number for all
/// arguments.
///
/// ```
/// use gpu_std::gufunc::CoreView;
///
/// fn trace(a: CoreView<f32, 2>) -> f32 {
///     (0..a.rows().min(a.columns())).map(|i| a[(i, i)]).sum()
/// }
///
/// let a = CoreView::from_shape([2, 2], &[1.0, 2.0, 3.0, 4.0]).unwrap();
/// assert_eq!(trace(a), 5.0);
/// ```
#[doc(alias = "ArrayView")]
pub struct CoreView<'a, T, const N: usize> {
    start: *const T,
    layout: CoreLayout<N>,
    lender: PhantomData<&'a [T]>,
}

impl<'a, T, const N: usize> CoreView<'a, T, N> {
    /// # Safety
    /// `start` is the element of all indices 0 of such a layout, if that has elements, of which nobody writes one for the lifetime.
    #[inline(always)]
    pub(super) unsafe fn new(start: *const T, layout: CoreLayout<N>) -> Self {
        Self { start, layout, lender: PhantomData }
    }

    /// Makes a view of elements in row-major order, to call a core function by hand; `None` if there are fewer than the shape has.
    ///
    /// ```
    /// use gpu_std::gufunc::CoreView;
    ///
    /// let x = CoreView::from_shape([3], &[1, 2, 3]).unwrap();
    /// assert_eq!(x[2], 3);
    /// assert!(CoreView::from_shape([2, 2], &[1, 2, 3]).is_none());
    /// ```
    #[inline]
    pub fn from_shape(shape: [usize; N], elements: &'a [T]) -> Option<Self> {
        let layout = CoreLayout::standard(shape, elements.len())?;
        // SAFETY: all are inside of the slice, which stays borrowed.
        Some(unsafe { Self::new(elements.as_ptr(), layout) })
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

    /// Returns the element at a position, or `None` if that is out of bounds.
    #[inline(always)]
    pub fn get(&self, place: impl CorePlace<N>) -> Option<&'a T> {
        let indices = place.indices();
        // SAFETY: the element is inside, lives as long as the view, and nobody writes it.
        self.layout.holds(indices).then(|| unsafe { &*self.start.offset(self.layout.offset(indices)) })
    }

    /// Returns all elements in row-major order as a slice, if they lie so.
    #[inline(always)]
    pub fn as_slice(&self) -> Option<&'a [T]> {
        // SAFETY: so many elements follow each other from the first on; they live as long as the view, and nobody writes them.
        self.layout.is_standard().then(|| unsafe { slice::from_raw_parts(self.start, self.len()) })
    }

    /// The core without an axis, at an index along that.
    #[inline(always)]
    #[track_caller]
    fn at<const M: usize>(&self, axis: usize, index: usize) -> CoreView<'a, T, M> {
        if index >= self.layout.extent(axis) {
            outside([index], [self.layout.extent(axis)])
        }
        let mut indices = [0; N];
        indices[axis] = index;
        // SAFETY: the index is inside. If there are no elements along another axis, nothing is accessed there.
        unsafe { CoreView::new(offset(self.start, &self.layout, indices), self.layout.without(axis)) }
    }
}

/// The address of the first element of a part.
///
/// # Safety
/// The indices other than 0 are inside.
#[inline(always)]
pub(super) unsafe fn offset<T, const N: usize>(
    start: *const T,
    layout: &CoreLayout<N>,
    indices: [usize; N],
) -> *const T {
    if layout.shape.contains(&0) {
        return start;
    }
    // SAFETY: the indices are inside, because there are elements along each axis.
    unsafe { start.offset(layout.offset(indices)) }
}

impl<'a, T> CoreView<'a, T, 1> {
    /// Iterates over the elements in order.
    #[inline(always)]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &'a T> + ExactSizeIterator + use<'a, T> {
        let view = *self;
        // SAFETY: the index is inside; the element lives as long as the view, and nobody writes it.
        (0..self.len()).map(move |index| unsafe { &*view.start.offset(view.layout.offset([index])) })
    }
}

impl<'a, T> CoreView<'a, T, 2> {
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
    pub fn row(&self, row: usize) -> CoreView<'a, T, 1> {
        self.at(0, row)
    }

    /// Returns a column.
    ///
    /// # Panics
    /// If there is no such column.
    #[inline(always)]
    #[track_caller]
    pub fn column(&self, column: usize) -> CoreView<'a, T, 1> {
        self.at(1, column)
    }
}

impl<'a, T> CoreView<'a, T, 3> {
    /// Returns the matrix at an index along the first axis.
    ///
    /// # Panics
    /// If there is no such layer.
    #[inline(always)]
    #[track_caller]
    pub fn layer(&self, layer: usize) -> CoreView<'a, T, 2> {
        self.at(0, layer)
    }
}

impl<T, P: CorePlace<N>, const N: usize> Index<P> for CoreView<'_, T, N> {
    type Output = T;

    #[inline(always)]
    #[track_caller]
    fn index(&self, place: P) -> &T {
        let indices = place.indices();
        if !self.layout.holds(indices) {
            outside(indices, self.shape())
        }
        // SAFETY: the element is inside, lives as long as the view, and nobody writes it.
        unsafe { &*self.start.offset(self.layout.offset(indices)) }
    }
}

impl<T, const N: usize> Clone for CoreView<'_, T, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize> Copy for CoreView<'_, T, N> {}

impl<T, const N: usize> fmt::Debug for CoreView<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreView").field("layout", &self.layout).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn views_are_indexed_as_ndarrays() {
        let elements: Vec<i32> = (0..24).collect();
        let a = CoreView::from_shape([2, 3, 4], &elements).unwrap();
        assert_eq!((a[(1, 2, 3)], a[[0, 1, 2]], a.get((2, 0, 0)), a.len()), (23, 6, None, 24));
        let layer = a.layer(1);
        assert_eq!((layer.rows(), layer.columns(), layer[(0, 0)]), (3, 4, 12));
        assert!(layer.column(2).iter().eq(&[14, 18, 22]));
        assert!(layer.row(2).iter().rev().eq(&[23, 22, 21, 20]));
        assert_eq!((layer.as_slice(), layer.column(2).as_slice()), (Some(&elements[12..]), None));
        assert_eq!(CoreView::from_shape([], &[7]).unwrap()[[]], 7);
        let empty = CoreView::from_shape([3, 0], &elements).unwrap();
        assert!(empty.is_empty() && empty.row(2).is_empty() && empty.as_slice() == Some(&[]));
    }

    #[test]
    #[should_panic(expected = "index 3 is outside of axis 0 of a core, which has 3 elements along it")]
    fn rows_outside_are_panics() {
        let elements = [0; 12];
        CoreView::from_shape([3, 4], &elements).unwrap().row(3);
    }

    #[test]
    #[should_panic(expected = "index 4 is outside of axis 1 of a core, which has 4 elements along it")]
    fn indices_outside_are_panics() {
        let elements = [0; 12];
        let _ = CoreView::from_shape([3, 4], &elements).unwrap()[(2, 4)];
    }
}
