//! New arrays.

use bytemuck::Zeroable;
use gpu_std::DeviceCopy;
use gpukernel::Device;
use ndarray::{Dimension, IntoDimension, Ix1};
use num_traits::{Float, One};

use crate::{Array, Error, Result, layout::Layout};

impl<T: DeviceCopy, D: Dimension> Array<T, D> {
    /// Creates an array of zeros.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// assert_eq!(Array::<f32, _>::zeros(&Device::cpu(), (2, 2))?.to_vec()?, [0.0; 4]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge); as [`Device::zeroed`].
    pub fn zeros(device: &Device, shape: impl IntoDimension<Dim = D>) -> Result<Self>
    where
        T: Zeroable,
    {
        let layout = Layout::standard(shape.into_dimension())?;
        Ok(Self::new(device.zeroed(layout.len())?, layout))
    }

    /// Creates an array of ones.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// assert_eq!(Array::<f32, _>::ones(&Device::cpu(), (2, 2))?.to_vec()?, [1.0; 4]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`full`](Self::full).
    pub fn ones(device: &Device, shape: impl IntoDimension<Dim = D>) -> Result<Self>
    where
        T: One,
    {
        Self::full(device, shape, T::one())
    }

    /// Creates an array with the same value everywhere (ndarray's `from_elem`).
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// assert_eq!(Array::full(&Device::cpu(), (2, 2), 7)?.to_vec()?, [7; 4]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge); as [`Device::filled`].
    #[doc(alias = "from_elem")]
    pub fn full(device: &Device, shape: impl IntoDimension<Dim = D>, value: T) -> Result<Self> {
        let layout = Layout::standard(shape.into_dimension())?;
        Ok(Self::new(device.filled(layout.len(), value)?, layout))
    }

    /// Creates an array of what `f` returns for each position, which is computed on the host.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let x = Array::from_shape_fn(&Device::cpu(), (2, 2), |(row, column)| row == column)?;
    /// assert_eq!(x.to_vec()?, [true, false, false, true]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge); as [`Device::upload`].
    pub fn from_shape_fn(
        device: &Device,
        shape: impl IntoDimension<Dim = D>,
        f: impl FnMut(D::Pattern) -> T,
    ) -> Result<Self> {
        let layout = Layout::standard(shape.into_dimension())?;
        // More bytes than there can be, for which `Vec` panics.
        if layout.len() > isize::MAX as usize / size_of::<T>().max(1) {
            return Err(Error::TooLarge { shape: layout.shape().to_vec() });
        }
        let values: Vec<T> = ndarray::indices(layout.dim().clone()).into_iter().map(f).collect();
        Ok(Self::new(device.upload(&values)?, layout))
    }
}

impl<T: DeviceCopy> Array<T, Ix1> {
    /// Creates an array of what an iterator returns, such as a range of integers (ndarray's `from_iter`). It is computed on the host.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let device = Device::cpu();
    /// assert_eq!(Array::from_iter(&device, 2..6_u32)?.to_vec()?, [2, 3, 4, 5]);
    /// assert_eq!(Array::from_iter(&device, (0..10).step_by(3))?.to_vec()?, [0, 3, 6, 9]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if it says that there are more than memory can have; as [`Device::upload`].
    #[doc(alias = "arange", alias = "range", alias = "iota")]
    pub fn from_iter(device: &Device, elements: impl IntoIterator<Item = T>) -> Result<Self> {
        let elements = elements.into_iter();
        let least = elements.size_hint().0;
        // More bytes than there can be, for which `Vec` panics.
        if least > isize::MAX as usize / size_of::<T>().max(1) {
            return Err(Error::TooLarge { shape: vec![least] });
        }
        Self::from_vec(device, elements.collect::<Vec<T>>())
    }

    /// Creates an array of `start`, `start + step`, … up to `end`, which is left out. [`from_iter`](Self::from_iter) takes a range of integers.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// assert_eq!(Array::range(&Device::cpu(), 0.0, 2.0, 0.5)?.to_vec()?, [0.0, 0.5, 1.0, 1.5]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::upload`].
    #[doc(alias = "arange")]
    pub fn range(device: &Device, start: T, end: T, step: T) -> Result<Self>
    where
        T: Float,
    {
        Self::from_vec(device, ndarray::Array1::range(start, end, step).into_raw_vec_and_offset().0)
    }

    /// Creates an array of `n` numbers from `start` to `end`, at equal distances.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// assert_eq!(Array::linspace(&Device::cpu(), 0.0, 1.0, 5)?.to_vec()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub fn linspace(device: &Device, start: T, end: T, n: usize) -> Result<Self>
    where
        T: Float,
    {
        Self::from_vec(device, ndarray::Array1::linspace(start, end, n).into_raw_vec_and_offset().0)
    }
}
