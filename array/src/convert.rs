//! Arrays from and to the host.

use gpu_std::DeviceCopy;
use gpukernel::Device;
use ndarray::{ArrayBase, Data, Dimension, IntoDimension, Ix0, Ix1};

use crate::{
    Array, ArrayView, ArrayViewMut, Error, ForeignArray, Result, assign::copy, layout::Layout, operand::part,
    storage, view::layout_of,
};

impl<T: DeviceCopy, D: Dimension> Array<T, D> {
    /// Copies an array or view of ndarray to a device, in row-major order.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_array::Array;
    /// use ndarray::array;
    ///
    /// let x = array![[1, 2], [3, 4]];
    /// assert_eq!(Array::from_ndarray(&Device::cpu(), &x.t())?.to_vec()?, [1, 3, 2, 4]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::upload`].
    #[doc(alias = "to_device", alias = "asarray")]
    pub fn from_ndarray<S: Data<Elem = T>>(device: &Device, array: &ArrayBase<S, D>) -> Result<Self> {
        let layout = Layout::standard(array.raw_dim())?;
        let buffer = match array.as_slice() {
            Some(elements) => device.upload(elements)?,
            None => device.upload(&array.iter().copied().collect::<Vec<_>>())?,
        };
        Ok(Self::new(buffer, layout))
    }

    /// Copies elements in row-major order to a device, as an array of a shape.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let x = Array::from_shape_vec(&Device::cpu(), (2, 2), vec![1, 2, 3, 4])?;
    /// assert_eq!(x.t().to_vec()?, [1, 3, 2, 4]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongLength`](crate::Error::WrongLength) if the shape has another number of elements; as [`Device::upload`].
    pub fn from_shape_vec(
        device: &Device,
        shape: impl IntoDimension<Dim = D>,
        elements: impl AsRef<[T]>,
    ) -> Result<Self> {
        let elements = elements.as_ref();
        let layout = layout_of(shape.into_dimension(), elements.len())?;
        Ok(Self::new(device.upload(elements)?, layout))
    }
}

impl<T: DeviceCopy> Array<T, Ix1> {
    /// Copies elements to a device: a vector, a slice or an array of the host.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// assert_eq!(Array::from_vec(&Device::cpu(), [1, 2, 3])?.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::upload`].
    #[doc(alias = "from_slice", alias = "aview1")]
    pub fn from_vec(device: &Device, elements: impl AsRef<[T]>) -> Result<Self> {
        let elements = elements.as_ref();
        Ok(Self::new(device.upload(elements)?, Layout::line(elements.len())))
    }
}

macro_rules! to_host {
    ($Array:ty, $Scalar:ty) => {
        impl<T: DeviceCopy> $Scalar {
            /// Copies the element to the host, once the kernels that write it have run (ndarray's `into_scalar`).
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// # use ndarray::{Ix0, s};
            /// let x = Array::full(&Device::cpu(), Ix0(), 2.5)?;
            /// assert_eq!(x.to_scalar()?, 2.5);
            /// let x = Array::from_shape_fn(&Device::cpu(), (2, 3), |(row, column)| 3 * row + column)?;
            /// assert_eq!(x.slice(s![1, 2])?.to_scalar()?, 5);
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// What the kernels say, such as [`KernelPanicked`](gpukernel::Error::KernelPanicked).
            #[doc(alias = "into_scalar", alias = "item", alias = "get")]
            pub fn to_scalar(&self) -> Result<T> {
                let mut values = self.to_vec()?;
                values.pop().ok_or(Error::WrongLength { asked: Vec::new(), shape: vec![0], len: 0 })
            }
        }

        impl<T: DeviceCopy, D: Dimension> $Array {
            /// Copies the elements to the host, in row-major order. Waits for the work that writes them.
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// assert_eq!(Array::from_vec(&Device::cpu(), [1, 2, 3])?.to_vec()?, [1, 2, 3]);
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// As [`Device::synchronize`].
            pub fn to_vec(&self) -> Result<Vec<T>> {
                let view = self.view();
                let (memory, layout) = view.parts();
                if layout.is_standard() {
                    return Ok(part(memory, layout.origin(), layout.len())?.to_vec()?);
                }
                Ok(view.to_owned()?.as_slice().to_vec()?)
            }

            /// Copies the array to the host, as one of ndarray. Waits for the work that writes it.
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// # use ndarray::array;
            /// let x = Array::from_ndarray(&Device::cpu(), &array![[1, 2], [3, 4]])?;
            /// assert_eq!(x.t().to_ndarray()?, array![[1, 3], [2, 4]]);
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// As [`Device::synchronize`].
            #[doc(alias = "copy_to_host")]
            pub fn to_ndarray(&self) -> Result<ndarray::Array<T, D>> {
                let elements = self.to_vec()?;
                let array = ndarray::Array::from_shape_vec(self.raw_dim(), elements);
                array.map_err(|_| crate::Error::TooLarge { shape: self.shape().to_vec() })
            }

            /// Copies the array on the device, to a new one in row-major order.
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// let x = Array::from_shape_vec(&Device::cpu(), (2, 2), [1, 2, 3, 4])?;
            /// assert_eq!(x.t().to_owned()?.strides(), [2, 1]);
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::TooLarge`](crate::Error::TooLarge) for a view that is broadcast to more elements than can be counted; as [`Device::uninit`] and
            /// [`Device::synchronize`].
            #[doc(alias = "copy", alias = "ascontiguousarray", alias = "as_standard_layout")]
            #[track_caller]
            pub fn to_owned(&self) -> Result<Array<T, D>> {
                let view = self.view();
                let (memory, layout) = view.parts();
                let from = layout.clone().into_dyn();
                storage::copied(
                    &view.device(),
                    Layout::standard(layout.dim().clone())?.into_dyn(),
                    |to, layout| copy(memory, &from, to, layout),
                )
            }
        }
    };
}

to_host! { Array<T, D>, Array<T, Ix0> }
to_host! { ArrayView<'_, T, D>, ArrayView<'_, T, Ix0> }
to_host! { ArrayViewMut<'_, T, D>, ArrayViewMut<'_, T, Ix0> }
to_host! { ForeignArray<T, D>, ForeignArray<T, Ix0> }
