//! Strided views: every n-th element of a slice, read-only.

use core::{fmt, marker::PhantomData, ops::Index};

use super::view_param;
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy,
    param::{Param, ReadStart},
    view::layout,
};

/// A read-only view of every n-th element of a slice, or of a column of a matrix, indexed as `view[i]`. It is not written
/// during the launch.
///
/// The launch passes `buffer.view_strided(first, step)?` or `buffer.view_2d(columns)?.column(i)?`.
///
/// ```
/// use gpu_std::prelude::{*, memory::*};
///
/// #[kernel]
/// pub fn gather(from: ViewStrided<f32>, to: PerThread<f32>) {
///     for (i, to) in to {
///         *to = from[i];
///     }
/// }
/// ```
pub struct ViewStrided<'k, T> {
    start: *const T,
    layout: layout::StridedLayout,
    lender: PhantomData<&'k [T]>,
}

view_param!(ViewStrided, StridedLayout);

impl<'k, T> ViewStrided<'k, T> {
    /// Returns the number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.layout.len
    }

    /// Returns whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.layout.len == 0
    }

    /// Returns the element `index`, or `None` if `index` is out of bounds.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&'k T> {
        // SAFETY: the element is inside, lives as long as the launch, and nobody writes it.
        (index < self.layout.len).then(|| unsafe { &*self.start.add(self.layout.offset(index)) })
    }

    /// Iterates over all elements in order.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &'k T> + use<'k, T> {
        let view = *self;
        (0..view.layout.len).filter_map(move |index| view.get(index))
    }
}

impl<T> Index<usize> for ViewStrided<'_, T> {
    type Output = T;

    #[inline(always)]
    #[track_caller]
    fn index(&self, index: usize) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => outside(index, self.layout.len),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside(index: usize, len: usize) -> ! {
    panic!("index {index} is outside of a strided view of {len} elements")
}

impl<T> fmt::Debug for ViewStrided<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewStrided").field("layout", &self.layout).finish_non_exhaustive()
    }
}
