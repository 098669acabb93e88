//! Every n-th element.

use gpu_std::{DeviceCopy, shape};

use super::{Strided, StridedMut, View, ViewMut, of_both};
use crate::{DeviceSlice, Error, Result};

fn bind(len: usize, first: usize, step: usize) -> Result<shape::Strided> {
    if step == 0 {
        return Err(Error::ZeroStep);
    }
    match len.checked_sub(first) {
        Some(rest) => Ok(shape::Strided { len: rest.div_ceil(step), step }),
        None => Err(Error::OutsideOfView {
            asked: format!("every {step}th element from element {first} on"),
            of: format!("{len} elements"),
        }),
    }
}

impl<T: DeviceCopy> DeviceSlice<T> {
    /// The elements `first`, `first + step`, `first + 2 * step`, …: what a launch takes for `Strided<T>`.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let interleaved = device.upload(&[1, 10, 2, 20, 3])?;
    /// assert_eq!(interleaved.strided(1, 2)?.len(), 2);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ZeroStep`], and [`Error::OutsideOfView`] if `first` is beyond the end.
    pub fn strided(&self, first: usize, step: usize) -> Result<Strided<'_, T>> {
        let shape = bind(self.len(), first, step)?;
        // SAFETY: the elements lie inside, and stay borrowed as this slice is.
        Ok(unsafe { View::new(self.address() + first * size_of::<T>(), shape) })
    }

    /// The same for writing: what a launch takes for `PerThreadStrided<T>`. The elements between them stay as they are.
    ///
    /// # Errors
    /// As [`strided`](Self::strided).
    pub fn strided_mut(&mut self, first: usize, step: usize) -> Result<StridedMut<'_, T>> {
        let shape = bind(self.len(), first, step)?;
        // SAFETY: as above, for writing.
        Ok(unsafe { ViewMut::new(self.address() + first * size_of::<T>(), shape) })
    }
}

of_both! { shape::Strided: {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.shape.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.shape.len == 0
    }

    /// Elements from one to the next.
    pub fn step(&self) -> usize {
        self.shape.step
    }
} }
