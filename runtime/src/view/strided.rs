//! Strided views: every n-th element.

use gpu_std::{DeviceCopy, view::layout};

use super::{View, ViewMut, ViewStrided, ViewStridedMut, of_both};
use crate::{DeviceSlice, Error, Result};

fn bind(len: usize, first: usize, step: usize) -> Result<layout::StridedLayout> {
    if step == 0 {
        return Err(Error::ZeroStep);
    }
    match len.checked_sub(first) {
        Some(rest) => Ok(layout::StridedLayout { len: rest.div_ceil(step), step }),
        None => Err(Error::OutsideOfView {
            asked: format!("every {step}th element from element {first} on"),
            of: format!("{len} elements"),
        }),
    }
}

impl<T: DeviceCopy> DeviceSlice<T> {
    /// Views the elements `first`, `first + step`, `first + 2 * step`, …: the argument for `ViewStrided<T>`.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let interleaved = device.upload(&[1, 10, 2, 20, 3])?;
    /// assert_eq!(interleaved.view_strided(1, 2)?.len(), 2);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ZeroStep`], and [`Error::OutsideOfView`] if `first` is beyond the end.
    pub fn view_strided(&self, first: usize, step: usize) -> Result<ViewStrided<'_, T>> {
        let layout = bind(self.len(), first, step)?;
        // SAFETY: the elements lie inside, and stay borrowed as this slice is.
        Ok(unsafe { View::new(self.place().after::<T>(first), layout) })
    }

    /// Views every `step`-th element for writing: the argument for `PerThreadStrided<T>`. The elements between them are not changed.
    ///
    /// # Errors
    /// As [`view_strided`](Self::view_strided).
    pub fn view_strided_mut(&mut self, first: usize, step: usize) -> Result<ViewStridedMut<'_, T>> {
        let layout = bind(self.len(), first, step)?;
        // SAFETY: as above, for writing.
        Ok(unsafe { ViewMut::new(self.place().after::<T>(first), layout) })
    }
}

of_both! { layout::StridedLayout: {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.layout.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.layout.len == 0
    }

    /// The distance from one element to the next, in elements.
    pub fn step(&self) -> usize {
        self.layout.step
    }
} }
