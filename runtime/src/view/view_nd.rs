//! Arrays of several axes and any strides.

use gpu_std::{
    DeviceCopy,
    view::layout::{LayoutNd, LayoutPlane, MAX_AXES, MOST_ALONG_AXIS, ViewLayout},
};

use super::{View, ViewMut, ViewNd, ViewNdMut, ViewPlane, ViewPlaneMut};
use crate::{DeviceSlice, Error, Result};

/// Binds a layout to `len` elements, of which the one of all indices 0 is number `origin`; with the number of the first in memory.
fn bind(len: usize, origin: usize, shape: &[usize], strides: &[isize]) -> Result<(LayoutNd, usize)> {
    let layout = LayoutNd::new(shape, strides).ok_or_else(|| Error::NotIndexable {
        shape: shape.to_vec(),
        strides: strides.to_vec(),
        max_axes: MAX_AXES,
        max_extent: MOST_ALONG_AXIS as usize,
    })?;
    let first = if layout.is_empty() { Some(origin.min(len)) } else { origin.checked_sub(layout.start()) };
    match first {
        Some(first) if layout.extent() <= len - first.min(len) => Ok((layout, first)),
        _ => Err(Error::OutsideOfView {
            asked: format!("an array of shape {shape:?} and strides {strides:?} from element {origin} on"),
            of: format!("{len} elements"),
        }),
    }
}

impl<T: DeviceCopy> DeviceSlice<T> {
    /// Views elements as an array of up to six axes with a stride each, in elements: the argument for `ViewNdOrScalar<T>`. The element of all indices 0 is
    /// number `origin`. A stride is 0 along an axis that is broadcast and negative along one that is reversed.
    ///
    /// ```
    /// let numbers = gpukernel::Device::cpu().upload(&[1, 2, 3, 4, 5, 6])?;
    /// let transposed = numbers.view_nd(0, &[3, 2], &[1, 3])?;
    /// let reversed = numbers.view_nd(5, &[6], &[-1])?;
    /// assert!(numbers.view_nd(4, &[6], &[-1]).is_err());
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutsideOfView`] if an element is out of bounds; [`Error::NotIndexable`] if there are more axes than six, more than 2³¹ - 1 elements along one,
    /// or another number of strides.
    pub fn view_nd(&self, origin: usize, shape: &[usize], strides: &[isize]) -> Result<ViewNd<'_, T>> {
        let (layout, first) = bind(self.len(), origin, shape, strides)?;
        // SAFETY: the elements lie inside, and stay borrowed as this slice is.
        Ok(unsafe { View::new(self.place().after::<T>(first), layout) })
    }

    /// Views elements as an array of any strides for writing: the argument for `PerThreadNd<T>` and `PerThreadRows<T>`.
    ///
    /// # Errors
    /// As [`view_nd`](Self::view_nd), and [`Error::OverlappingElements`] if two positions may be the same element, as along an axis that is broadcast: in the
    /// order of their absolute values, each stride has to be larger than the smaller ones reach together.
    pub fn view_nd_mut(
        &mut self,
        origin: usize,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<ViewNdMut<'_, T>> {
        let (layout, first) = bind(self.len(), origin, shape, strides)?;
        if !layout.is_injective() {
            return Err(Error::OverlappingElements { shape: shape.to_vec(), strides: strides.to_vec() });
        }
        // SAFETY: as above, for writing; no two positions are the same element.
        Ok(unsafe { ViewMut::new(self.place().after::<T>(first), layout) })
    }
}

impl<'a, T: DeviceCopy> ViewNd<'a, T> {
    /// Returns the same elements as kernels find them by the fewest instructions: the argument for `ViewPlane<T>` and `PlaneOrScalar<T>`. `None` if there are more axes than two, or if
    /// positions or offsets need more than 31 bits.
    ///
    /// ```
    /// let numbers = gpukernel::Device::cpu().upload(&[1, 2, 3, 4, 5, 6])?;
    /// assert!(numbers.view_nd(0, &[3, 2], &[1, 3])?.as_plane().is_some());
    /// assert!(numbers.view_nd(0, &[1, 2, 3], &[6, 3, 1])?.as_plane().is_none());
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    pub fn as_plane(&self) -> Option<ViewPlane<'a, T>> {
        // SAFETY: the elements are the same, borrowed as these are.
        LayoutPlane::new(&self.layout).map(|layout| unsafe { View::new(self.place, layout) })
    }
}

impl<'a, T: DeviceCopy> ViewNdMut<'a, T> {
    /// Returns the same elements as kernels find them by the fewest instructions: the argument for `PerThreadPlane<T>`. The view itself, if there are more axes than
    /// two, or if positions or offsets need more than 31 bits.
    ///
    /// ```
    /// let mut numbers = gpukernel::Device::cpu().upload(&[1, 2, 3, 4, 5, 6])?;
    /// assert!(numbers.view_nd_mut(0, &[3, 2], &[1, 3])?.as_plane().is_ok());
    /// assert!(numbers.view_nd_mut(0, &[1, 2, 3], &[6, 3, 1])?.as_plane().is_err());
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    pub fn as_plane(self) -> std::result::Result<ViewPlaneMut<'a, T>, Self> {
        match LayoutPlane::new(&self.layout) {
            // SAFETY: the elements are the same, borrowed as these were, and no two positions are one of them, as of these.
            Some(layout) => Ok(unsafe { ViewMut::new(self.place, layout) }),
            None => Err(self),
        }
    }

    /// Makes the kernel go through the array in tiles of so many rows and columns, which are along the two innermost axes: for inputs that are contiguous along
    /// the rows, as of a transposed matrix. A parameter `PerThreadNd<T>` heeds it; what is computed is the same.
    ///
    /// Extents are rounded up to powers of two, and are at most 128.
    ///
    /// ```
    /// let mut numbers = gpukernel::Device::cpu().zeroed::<f32>(100 * 100)?;
    /// let view = numbers.view_nd_mut(0, &[100, 100], &[100, 1])?.in_tiles(8, 32);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    #[must_use]
    pub fn in_tiles(self, rows: usize, columns: usize) -> Self {
        Self { layout: self.layout.in_tiles(rows, columns), ..self }
    }

    /// Makes threads of the kernel go through up to so many rows, 1 to 255, below each other, in place of one position: the place of the next one is found by an addition,
    /// and that of the first by divisions. A parameter `PerThreadNd<T>` heeds it; what is computed is the same.
    ///
    /// ```
    /// let mut numbers = gpukernel::Device::cpu().zeroed::<f32>(100 * 100)?;
    /// let view = numbers.view_nd_mut(0, &[100, 100], &[100, 1])?.in_strips(4);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    #[must_use]
    pub fn in_strips(self, rows: usize) -> Self {
        Self { layout: self.layout.in_strips(rows), ..self }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Device, Error};

    #[test]
    fn views_are_inside_of_the_slice() {
        let mut buffer = Device::cpu().upload(&[0_u8; 12]).unwrap();
        for (origin, shape, strides) in [
            (0, &[3, 4][..], &[4, 1][..]),
            (11, &[3, 4], &[-4, -1]),
            (8, &[3, 4], &[-4, 1]),
            (12, &[0, 4], &[4, 1]),
            (99, &[0], &[-1]),
            (11, &[], &[]),
            (0, &[1, 12], &[isize::MAX / 2, 1]),
        ] {
            assert!(buffer.view_nd(origin, shape, strides).is_ok(), "{origin} {shape:?} {strides:?}");
            assert!(buffer.view_nd_mut(origin, shape, strides).is_ok(), "{origin} {shape:?} {strides:?}");
        }
        for (origin, shape, strides) in [
            (1, &[3, 4][..], &[4, 1][..]),
            (10, &[3, 4], &[-4, -1]),
            (7, &[3, 4], &[-4, 1]),
            (12, &[], &[]),
            (usize::MAX, &[1], &[1]),
            (0, &[2, 2], &[isize::MAX, isize::MIN]),
        ] {
            let error = buffer.view_nd(origin, shape, strides).unwrap_err();
            assert!(matches!(error, Error::OutsideOfView { .. } | Error::NotIndexable { .. }), "{error}");
        }
    }

    #[test]
    fn outputs_have_each_element_once() {
        let mut buffer = Device::cpu().upload(&[0_u8; 12]).unwrap();
        // Of the last, no two positions are the same element, which the rule does not find.
        for (shape, strides) in [([3, 4], [0, 1]), ([3, 3], [2, 1]), ([4, 3], [2, 2]), ([2, 3], [3, 2])] {
            assert!(buffer.view_nd(0, &shape, &strides).is_ok());
            let error = buffer.view_nd_mut(0, &shape, &strides).unwrap_err();
            assert!(matches!(error, Error::OverlappingElements { .. }), "{error}");
        }
        assert!(buffer.view_nd_mut(0, &[2, 2], &[3, 2]).is_ok());
    }

    #[test]
    fn errors_say_what_kernels_index() {
        let buffer = Device::cpu().upload(&[0_u8; 12]).unwrap();
        let error = buffer.view_nd(0, &[1; 7], &[0; 7]).unwrap_err();
        assert!(
            matches!(error, Error::NotIndexable { .. }) && error.to_string().contains("6 axes"),
            "{error}"
        );
        let error = buffer.view_nd(0, &[1 << 31], &[0]).unwrap_err();
        assert!(error.to_string().contains("2147483647"), "{error}");
    }
}
