//! Owned arrays.

use gpu_std::DeviceCopy;
use gpukernel::{Buffer, Device, DeviceSlice};
use ndarray::{Axis, Dimension, IntoDimension, IxDyn, RemoveAxis, SliceArg};

use crate::{
    ArrayView, ArrayViewMut, Error, Result,
    layout::Layout,
    view::{layout_of, shape_methods, view_methods},
};

/// An array in device memory, in row-major order (ndarray's `Array`, `numpy.ndarray` of order C).
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_array::Array;
///
/// let device = Device::cpu();
/// let x = Array::from_shape_fn(&device, (2, 3), |(row, column)| (row + column) as f32)?;
/// let y = &x * 2.0 + &x;
/// assert_eq!(y.to_vec()?, [0.0, 3.0, 6.0, 3.0, 6.0, 9.0]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[doc(alias = "ndarray", alias = "tensor", alias = "CuArray")]
pub struct Array<T: DeviceCopy, D> {
    buffer: Buffer<T>,
    /// A standard one of all elements of the buffer.
    layout: Layout<D>,
}

impl<T: DeviceCopy, D: Dimension> Array<T, D> {
    pub(crate) fn new(buffer: Buffer<T>, layout: Layout<D>) -> Self {
        Self { buffer, layout }
    }

    shape_methods! {}

    view_methods! { '_ }

    /// Makes an array of a buffer, which has the elements in row-major order.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_array::Array;
    ///
    /// let buffer = Device::cpu().upload(&[1, 2, 3, 4])?;
    /// let x = Array::from_buffer((2, 2), buffer)?;
    /// assert_eq!(x.into_buffer().to_vec()?, [1, 2, 3, 4]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongLength`] if the shape has another number of elements.
    pub fn from_buffer(shape: impl IntoDimension<Dim = D>, buffer: Buffer<T>) -> Result<Self> {
        Ok(Self { layout: layout_of(shape.into_dimension(), buffer.len())?, buffer })
    }

    /// Returns the buffer, which has the elements in row-major order.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let x = Array::from_vec(&Device::cpu(), vec![1, 2, 3])?;
    /// assert_eq!(x.into_buffer().len(), 3);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }

    /// Returns the elements in row-major order, as kernels take them.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let x = Array::from_vec(&Device::cpu(), vec![1, 2, 3])?;
    /// assert_eq!(x.as_slice()[1..].to_vec()?, [2, 3]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn as_slice(&self) -> &DeviceSlice<T> {
        &self.buffer
    }

    /// Returns the elements in row-major order for writing, as kernels take them.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let mut x = Array::from_vec(&Device::cpu(), vec![1, 2, 3])?;
    /// x.as_mut_slice()[1..].fill(0)?;
    /// assert_eq!(x.to_vec()?, [1, 0, 0]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn as_mut_slice(&mut self) -> &mut DeviceSlice<T> {
        &mut self.buffer
    }

    /// Returns the device that has the elements.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// assert_eq!(Array::<f32, _>::zeros(&Device::cpu(), 3)?.device(), &Device::cpu());
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// Returns the whole array for reading.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// assert_eq!(Array::from_vec(&Device::cpu(), vec![1, 2, 3])?.view().shape(), [3]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn view(&self) -> ArrayView<'_, T, D> {
        ArrayView::of(&self.buffer, self.layout.clone())
    }

    /// Returns the whole array for writing.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let mut x = Array::from_vec(&Device::cpu(), vec![1, 2, 3])?;
    /// x.view_mut().assign(0)?;
    /// assert_eq!(x.to_vec()?, [0, 0, 0]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn view_mut(&mut self) -> ArrayViewMut<'_, T, D> {
        ArrayViewMut::of(&mut self.buffer, self.layout.clone())
    }

    /// Returns a part for writing, as [`slice`](Self::slice).
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// # use ndarray::s;
    /// let mut x = Array::from_vec(&Device::cpu(), vec![1, 2, 3, 4])?;
    /// x.slice_mut(s![..;2])?.assign(0)?;
    /// assert_eq!(x.to_vec()?, [0, 2, 0, 4]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchSlice`].
    pub fn slice_mut<I: SliceArg<D>>(&mut self, info: I) -> Result<ArrayViewMut<'_, T, I::OutDim>> {
        self.view_mut().slice_move(info)
    }

    /// Returns the part at an index along an axis for writing, as [`index_axis`](Self::index_axis).
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// # use ndarray::Axis;
    /// let mut x = Array::zeros(&Device::cpu(), (2, 2))?;
    /// x.index_axis_mut(Axis(0), 1)?.assign(1_i32)?;
    /// assert_eq!(x.to_vec()?, [0, 0, 1, 1]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchAxis`], [`Error::OutOfBounds`].
    pub fn index_axis_mut(&mut self, axis: Axis, index: usize) -> Result<ArrayViewMut<'_, T, D::Smaller>>
    where
        D: RemoveAxis,
    {
        self.view_mut().index_axis_move(axis, index)
    }

    /// Returns the array in another shape, with the elements in the same order.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let x = Array::from_vec(&Device::cpu(), vec![1, 2, 3, 4])?.into_shape((2, 2))?;
    /// assert_eq!(x.shape(), [2, 2]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongLength`].
    #[doc(alias = "into_shape_with_order", alias = "reshape")]
    pub fn into_shape<E: IntoDimension>(self, shape: E) -> Result<Array<T, E::Dim>> {
        let layout = self.layout.reshape(shape.into_dimension())?;
        Ok(Array { buffer: self.buffer, layout })
    }

    /// Returns the array with its number of axes known when the program runs.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ArrayD};
    /// let x: ArrayD<f32> = Array::zeros(&Device::cpu(), (2, 3))?.into_dyn();
    /// assert_eq!(x.ndim(), 2);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn into_dyn(self) -> Array<T, IxDyn> {
        Array { buffer: self.buffer, layout: self.layout.into_dyn() }
    }

    /// Returns the array with the number of axes of a type.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let x = Array::<f32, _>::zeros(&Device::cpu(), ndarray::IxDyn(&[2, 3]))?;
    /// assert_eq!(x.into_dimensionality::<ndarray::Ix2>()?.shape(), [2, 3]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDimension`] if it has another number of axes.
    pub fn into_dimensionality<E: Dimension>(self) -> Result<Array<T, E>> {
        Ok(Array { layout: self.layout.with_dimension()?, buffer: self.buffer })
    }

    fn with_layout<E: Dimension>(&self, layout: Layout<E>) -> ArrayView<'_, T, E> {
        ArrayView::of(&self.buffer, layout)
    }

    pub(crate) fn memory(&self) -> &DeviceSlice<T> {
        &self.buffer
    }

    pub(crate) fn layout(&self) -> &Layout<D> {
        &self.layout
    }
}
