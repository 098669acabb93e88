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
        let layout = Layout::standard_of::<T>(shape.into_dimension())?;
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
        let layout = Layout::standard_of::<T>(shape.into_dimension())?;
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
        let layout = Layout::standard_of::<T>(shape.into_dimension())?;
        let values = collected(layout.shape(), ndarray::indices(layout.dim().clone()).into_iter().map(f))?;
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
    /// [`Error::TooLarge`] if it says that there are more than memory can have; as [`Device::upload`].
    #[doc(alias = "arange", alias = "range", alias = "iota")]
    pub fn from_iter(device: &Device, elements: impl IntoIterator<Item = T>) -> Result<Self> {
        let elements = elements.into_iter();
        Self::from_vec(device, collected(&[elements.size_hint().0], elements)?)
    }

    /// Creates an array of `start`, `start + step`, … up to `end`, which is left out. [`from_iter`](Self::from_iter) takes a range of integers.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let device = Device::cpu();
    /// assert_eq!(Array::range(&device, 0.0, 2.0, 0.5)?.to_vec()?, [0.0, 0.5, 1.0, 1.5]);
    /// assert_eq!(Array::range(&device, 1.0, 0.0, -0.5)?.to_vec()?, [1.0, 0.5]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchRange`] if the step is 0 or leads away from `end`, or a number is not finite; [`Error::TooLarge`]; as [`Device::upload`].
    #[doc(alias = "arange")]
    pub fn range(device: &Device, start: T, end: T, step: T) -> Result<Self>
    where
        T: Float,
    {
        let count = ((end - start) / step).ceil();
        let finite = start.is_finite() && end.is_finite() && step.is_finite();
        // Also where it is no number.
        let count = count.to_usize().filter(|_| finite).ok_or_else(|| {
            let [start, end, step] = [start, end, step].map(|number| number.to_f64().unwrap_or(f64::NAN));
            Error::NoSuchRange { start, end, step }
        })?;
        Self::from_vec(device, steps(start, step, count)?)
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
    /// [`Error::TooLarge`]; as [`Device::upload`].
    pub fn linspace(device: &Device, start: T, end: T, n: usize) -> Result<Self>
    where
        T: Float,
    {
        // Of one number, there is no step.
        let step = if n > 1 { (end - start) / float(n - 1) } else { T::zero() };
        Self::from_vec(device, steps(start, step, n)?)
    }
}

/// Each number is computed from its position, by which what is rounded does not add up.
fn steps<T: Float>(start: T, step: T, count: usize) -> Result<Vec<T>> {
    collected(&[count], (0..count).map(|i| start + step * float(i)))
}

/// The number of a type that has no more than infinity.
fn float<T: Float>(number: usize) -> T {
    T::from(number).unwrap_or_else(T::infinity)
}

/// The elements of an array of a shape, in memory of the host: an error where `Vec` panics, or the program ends.
fn collected<T>(shape: &[usize], elements: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let error = |_| Error::TooLarge { shape: shape.to_vec() };
    values.try_reserve_exact(shape.iter().product()).map_err(error)?;
    values.extend(elements);
    Ok(values)
}
