//! Every n-th element of a slice, read-only.

use core::{fmt, marker::PhantomData, ops::Index};

use super::view_param;
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy,
    param::{Param, ReadStart},
    shape,
};

/// Every n-th element of a slice, or a column of a matrix, that nobody writes during the launch: read as `view[i]`.
///
/// The launch gives `buffer.strided(first, step)?` or `buffer.rows(columns)?.column(i)?`.
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn gather(from: Strided<f32>, to: PerThread<f32>) {
///     for (i, to) in to {
///         *to = from[i];
///     }
/// }
/// ```
pub struct Strided<'k, T> {
    start: *const T,
    shape: shape::Strided,
    lender: PhantomData<&'k [T]>,
}

view_param!(Strided, Strided);

impl<'k, T> Strided<'k, T> {
    /// How many elements there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.shape.len
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.shape.len == 0
    }

    /// The element `index`, or `None` if there is no such element.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&'k T> {
        // SAFETY: the element is inside, lives as long as the launch, and nobody writes it.
        (index < self.shape.len).then(|| unsafe { &*self.start.add(self.shape.offset(index)) })
    }

    /// All elements, in order.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &'k T> + use<'k, T> {
        let view = *self;
        (0..view.shape.len).filter_map(move |index| view.get(index))
    }
}

impl<T> Index<usize> for Strided<'_, T> {
    type Output = T;

    #[inline(always)]
    #[track_caller]
    fn index(&self, index: usize) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => outside(index, self.shape.len),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside(index: usize, len: usize) -> ! {
    panic!("index {index} is outside of a strided view of {len} elements")
}

impl<T> fmt::Debug for Strided<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Strided").field("shape", &self.shape).finish_non_exhaustive()
    }
}
