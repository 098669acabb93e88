//! Where the elements of one core lie.

use crate::{DeviceCopy, signature::Text, view::layout::MOST_ALONG_AXIS};

/// The most axes of a core: of the six that kernels index, three are left to divide an array into cores.
pub const MAX_CORE_AXES: usize = 3;

/// The shape of a core, and the distance of its elements along each axis, in elements. The innermost axis is the last.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CoreLayout<const N: usize> {
    pub(crate) strides: [i64; N],
    pub(crate) shape: [u32; N],
}

// SAFETY: plain numbers with a fixed layout.
#[diagnostic::do_not_recommend]
unsafe impl<const N: usize> DeviceCopy for CoreLayout<N> {
    const TYPE: Text = Text::Of("gpu_std::gufunc::CoreLayout", &[Text::Number(N as i128)]);
}

impl<const N: usize> CoreLayout<N> {
    /// Of row-major elements one after another; none if there are fewer than so many.
    #[inline]
    pub(super) fn standard(shape: [usize; N], len: usize) -> Option<Self> {
        let mut layout = Self { strides: [0; N], shape: [0; N] };
        let mut size = 1_usize;
        for axis in (0..N).rev() {
            if shape[axis] > MOST_ALONG_AXIS as usize {
                return None;
            }
            (layout.strides[axis], layout.shape[axis]) = (size as i64, shape[axis] as u32);
            // An extent of 0 may follow: what is too large is refused at the end.
            size = size.saturating_mul(shape[axis]);
        }
        (size <= len).then_some(layout)
    }

    /// The number of elements along an axis.
    #[inline(always)]
    pub(super) fn extent(&self, axis: usize) -> usize {
        self.shape[axis] as usize
    }

    #[inline(always)]
    pub(super) fn shape(&self) -> [usize; N] {
        self.shape.map(|extent| extent as usize)
    }

    /// The number of elements.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        // A core of elements in memory has at most isize::MAX.
        self.shape.iter().fold(1, |len, &extent| len.wrapping_mul(extent as usize))
    }

    /// Whether each index is inside.
    #[inline(always)]
    pub(super) fn holds(&self, indices: [usize; N]) -> bool {
        (0..N).fold(true, |holds, axis| holds & (indices[axis] < self.extent(axis)))
    }

    /// The offset of an element from that of all indices 0.
    ///
    /// # Safety
    /// The indices are inside, and the layout is that of elements in memory.
    #[inline(always)]
    pub(super) unsafe fn offset(&self, indices: [usize; N]) -> isize {
        (0..N).fold(0_isize, |offset, axis| {
            // SAFETY: by the caller's promise each product, and each sum of some of them, is a distance between elements in memory.
            unsafe {
                offset.unchecked_add((indices[axis] as isize).unchecked_mul(self.strides[axis] as isize))
            }
        })
    }

    /// Whether elements lie in row-major order without gaps.
    #[inline(always)]
    pub(super) fn is_standard(&self) -> bool {
        let (mut expected, mut is_standard) = (1_i64, true);
        for axis in (0..N).rev() {
            is_standard &= self.shape[axis] <= 1 || self.strides[axis] == expected;
            expected = expected.wrapping_mul(self.shape[axis].into());
        }
        is_standard | self.shape.contains(&0)
    }

    /// Without an axis.
    #[inline(always)]
    pub(super) fn without<const M: usize>(&self, axis: usize) -> CoreLayout<M> {
        const { assert!(M + 1 == N) };
        let from = |kept: usize| if kept < axis { kept } else { kept + 1 };
        CoreLayout {
            strides: core::array::from_fn(|kept| self.strides[from(kept)]),
            shape: core::array::from_fn(|kept| self.shape[from(kept)]),
        }
    }
}

/// A position in a core of `N` axes: `usize`, `(usize, usize)`, `(usize, usize, usize)`, or `[usize; N]`.
///
/// ```
/// use gpu_std::gufunc::{CorePlace, CoreView};
///
/// /// An element, or 0 outside.
/// fn padded<const N: usize>(x: CoreView<f32, N>, place: impl CorePlace<N>) -> f32 {
///     x.get(place).copied().unwrap_or(0.0)
/// }
///
/// let x = CoreView::from_shape([2, 2], &[1.0, 2.0, 3.0, 4.0]).unwrap();
/// assert_eq!((padded(x, (1, 0)), padded(x, [1, 2])), (3.0, 0.0));
/// ```
pub trait CorePlace<const N: usize>: Copy {
    /// Returns the index along each axis.
    fn indices(self) -> [usize; N];
}

impl<const N: usize> CorePlace<N> for [usize; N] {
    #[inline(always)]
    fn indices(self) -> [usize; N] {
        self
    }
}

impl CorePlace<1> for usize {
    #[inline(always)]
    fn indices(self) -> [usize; 1] {
        [self]
    }
}

impl CorePlace<2> for (usize, usize) {
    #[inline(always)]
    fn indices(self) -> [usize; 2] {
        self.into()
    }
}

impl CorePlace<3> for (usize, usize, usize) {
    #[inline(always)]
    fn indices(self) -> [usize; 3] {
        self.into()
    }
}

/// Panics about an index that is not inside. Device code names integers in messages, not arrays of them.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn outside<const N: usize>(indices: [usize; N], shape: [usize; N]) -> ! {
    for axis in 0..N {
        if indices[axis] >= shape[axis] {
            panic!(
                "index {} is outside of axis {axis} of a core, which has {} elements along it",
                indices[axis], shape[axis]
            )
        }
    }
    panic!("a core has no such element")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_layouts_follow_shapes() {
        let layout = CoreLayout::standard([2, 3, 4], 24).unwrap();
        assert_eq!((layout.strides, layout.len(), layout.is_standard()), ([12, 4, 1], 24, true));
        // SAFETY: nothing is accessed.
        assert_eq!(unsafe { layout.offset([1, 2, 3]) }, 23);
        assert_eq!(layout.without::<2>(1).strides, [12, 1]);
        assert!(CoreLayout::standard([2, 3], 5).is_none());
        assert!(CoreLayout::standard([1 << 31], usize::MAX).is_none());
        assert!(CoreLayout::standard([usize::MAX, 0], 7).is_none());
        assert_eq!(CoreLayout::standard([0, 1 << 30, 1 << 30], 0).map(|layout| layout.len()), Some(0));
        assert_eq!(CoreLayout::standard([], 1).map(|layout| layout.len()), Some(1));
        assert!(!CoreLayout { strides: [1, 2], shape: [2, 2] }.is_standard());
        assert!(CoreLayout { strides: [9, 9, 1], shape: [1, 1, 2] }.is_standard());
    }
}
