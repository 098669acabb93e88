//! Strided views: every n-th element of a slice, read-only.

use super::view;
use crate::view::layout::StridedLayout;

view! {
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
    ViewStrided of StridedLayout, at "index": usize, else outside
}

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

    /// Iterates over all elements in order.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &'k T> + use<'k, T> {
        let view = *self;
        (0..view.layout.len).filter_map(move |index| view.get(index))
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside(index: usize, layout: StridedLayout) -> ! {
    panic!("index {index} is outside of a strided view of {} elements", layout.len)
}
