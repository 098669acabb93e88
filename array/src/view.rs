//! Borrowed arrays: parts of memory in a shape, with strides.

use gpu_std::DeviceCopy;
use gpukernel::{Buffer, Device, DeviceSlice};
use ndarray::{Axis, Dimension, IntoDimension, Ix1, IxDyn, RemoveAxis, SliceArg};

use crate::{
    Array, Error, Input, Result,
    layout::Layout,
    operand::{part, part_mut},
};

/// An array borrowed for reading (ndarray's `ArrayView`): a part of an [`Array`], or of a [`DeviceSlice`], with a shape and strides.
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_array::Array;
/// use ndarray::s;
///
/// let x = Array::from_shape_fn(&Device::cpu(), (3, 4), |(row, column)| 10 * row + column)?;
/// let view = x.slice(s![1.., ..;-2])?;
/// assert_eq!((view.shape(), view.strides()), (&[2, 2][..], vec![4, -2]));
/// assert_eq!(view.to_vec()?, [13, 11, 23, 21]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
pub struct ArrayView<'a, T: DeviceCopy, D> {
    memory: &'a DeviceSlice<T>,
    layout: Layout<D>,
    /// That of the buffer, if it is known: memory without bytes does not say.
    device: Option<&'a Device>,
}

/// An array borrowed for writing (ndarray's `ArrayViewMut`).
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_array::Array;
/// use ndarray::s;
///
/// let mut x = Array::zeros(&Device::cpu(), (2, 3))?;
/// x.slice_mut(s![.., 1])?.assign(5_u8)?;
/// assert_eq!(x.to_vec()?, [0, 5, 0, 0, 5, 0]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
pub struct ArrayViewMut<'a, T: DeviceCopy, D> {
    memory: &'a mut DeviceSlice<T>,
    /// No two positions are the same element, because it is made of a standard layout by slices, permutations and reshapes.
    layout: Layout<D>,
    /// That of the buffer, if the memory has no bytes, which does not say.
    device: Option<Device>,
}

impl<T: DeviceCopy, D: Clone> Clone for ArrayView<'_, T, D> {
    fn clone(&self) -> Self {
        Self { memory: self.memory, layout: self.layout.clone(), device: self.device }
    }
}

impl<T: DeviceCopy, D: Copy> Copy for ArrayView<'_, T, D> {}

/// Methods that ask for the shape of an array.
macro_rules! shape_methods {
    () => {
        /// Returns the number of elements.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// assert_eq!(Array::<f32, _>::zeros(&Device::cpu(), (2, 3))?.len(), 6);
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        pub fn len(&self) -> usize {
            self.layout.len()
        }

        /// Returns whether there are no elements.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// assert!(Array::<f32, _>::zeros(&Device::cpu(), (2, 0))?.is_empty());
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        pub fn is_empty(&self) -> bool {
            self.layout.len() == 0
        }

        /// Returns the number of axes.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// assert_eq!(Array::<f32, _>::zeros(&Device::cpu(), (2, 3))?.ndim(), 2);
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        pub fn ndim(&self) -> usize {
            self.layout.ndim()
        }

        /// Returns the number of elements along each axis.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// assert_eq!(Array::<f32, _>::zeros(&Device::cpu(), (2, 3))?.t().shape(), [3, 2]);
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        pub fn shape(&self) -> &[usize] {
            self.layout.shape()
        }

        /// Returns the number of elements along each axis, as ndarray's type.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// assert_eq!(Array::<f32, _>::zeros(&Device::cpu(), (2, 3))?.raw_dim(), ndarray::Ix2(2, 3));
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        pub fn raw_dim(&self) -> D {
            self.layout.dim().clone()
        }

        /// Returns the strides: elements of memory from one index to the next along each axis.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// assert_eq!(Array::<f32, _>::zeros(&Device::cpu(), (2, 3))?.strides(), [3, 1]);
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        pub fn strides(&self) -> Vec<isize> {
            self.layout.strides().collect()
        }

        /// Returns whether the elements lie in row-major order without gaps.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// let x = Array::<f32, _>::zeros(&Device::cpu(), (2, 3))?;
        /// assert!(x.is_standard_layout() && !x.t().is_standard_layout());
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        pub fn is_standard_layout(&self) -> bool {
            self.layout.is_standard()
        }
    };
}
pub(crate) use shape_methods;

/// Methods that return views for reading, of a lifetime.
macro_rules! view_methods {
    ($life:lifetime) => {
        /// Returns a part by ranges, indices and new axes ([`s!`](ndarray::s)), without a copy.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// # use ndarray::s;
        /// let x = Array::from_vec(&Device::cpu(), vec![0, 1, 2, 3, 4, 5])?;
        /// assert_eq!(x.slice(s![1..;2])?.to_vec()?, [1, 3, 5]);
        /// assert_eq!(x.slice(s![..;-1])?.to_vec()?, [5, 4, 3, 2, 1, 0]);
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::NoSuchSlice`].
        pub fn slice<I: SliceArg<D>>(&self, info: I) -> Result<ArrayView<$life, T, I::OutDim>> {
            Ok(self.with_layout(self.layout.slice(&info)?))
        }

        /// Returns the array with the axes in the opposite order, without a copy.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// let x = Array::from_shape_fn(&Device::cpu(), (2, 3), |(row, column)| 3 * row + column)?;
        /// assert_eq!(x.t().to_vec()?, [0, 3, 1, 4, 2, 5]);
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        #[doc(alias = "transpose", alias = "reversed_axes")]
        pub fn t(&self) -> ArrayView<$life, T, D> {
            self.with_layout(self.layout.clone().reversed_axes())
        }

        /// Returns the array with its axes in another order, without a copy.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// let x = Array::<u8, _>::zeros(&Device::cpu(), (2, 3, 4))?;
        /// assert_eq!(x.permuted_axes((1, 2, 0))?.shape(), [3, 4, 2]);
        /// assert!(x.permuted_axes((1, 1, 0)).is_err());
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::NotAPermutation`].
        #[doc(alias = "transpose")]
        pub fn permuted_axes(&self, axes: impl IntoDimension<Dim = D>) -> Result<ArrayView<$life, T, D>> {
            Ok(self.with_layout(self.layout.permuted(&axes.into_dimension())?))
        }

        /// Returns the elements, in row-major order, in another shape, without a copy.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// let x = Array::from_vec(&Device::cpu(), vec![1, 2, 3, 4, 5, 6])?;
        /// assert_eq!(x.reshape((2, 3))?.t().to_vec()?, [1, 4, 2, 5, 3, 6]);
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::WrongLength`], and [`Error::NeedsCopy`] where the strides do not allow it.
        #[doc(alias = "view", alias = "into_shape", alias = "into_shape_with_order")]
        pub fn reshape<E: IntoDimension>(&self, shape: E) -> Result<ArrayView<$life, T, E::Dim>> {
            Ok(self.with_layout(self.layout.reshape(shape.into_dimension())?))
        }

        /// Returns the elements, in row-major order, in another shape, in a new array.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// let x = Array::from_shape_fn(&Device::cpu(), (2, 3), |(row, column)| 3 * row + column)?;
        /// assert!(x.t().reshape(6).is_err());
        /// assert_eq!(x.t().to_shape(6)?.to_vec()?, [0, 3, 1, 4, 2, 5]);
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::WrongLength`]; what copies say.
        pub fn to_shape<E: IntoDimension>(&self, shape: E) -> Result<Array<T, E::Dim>> {
            let shape = shape.into_dimension();
            self.layout.check_length(shape.slice())?;
            self.to_owned()?.into_shape(shape)
        }

        /// Returns the array broadcast to a shape, without a copy: along axes of one element, and new ones before the others, the same elements
        /// again and again.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// let x = Array::from_vec(&Device::cpu(), vec![1, 2])?;
        /// assert_eq!(x.broadcast((2, 2))?.to_vec()?, [1, 2, 1, 2]);
        /// assert!(x.broadcast((2, 3)).is_err());
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::BroadcastTo`] if an extent is neither the same nor 1; [`Error::TooLarge`].
        #[doc(alias = "expand")]
        pub fn broadcast<E: IntoDimension>(&self, shape: E) -> Result<ArrayView<$life, T, E::Dim>> {
            let shape = shape.into_dimension();
            let layout = self.layout.broadcast(shape.clone()).ok_or_else(|| Error::BroadcastTo {
                what: "the array".to_owned(),
                shape: self.shape().to_vec(),
                to: shape.slice().to_vec(),
            })?;
            // Else the number of elements may be any, modulo 2⁶⁴.
            crate::layout::check_size(shape.slice())?;
            Ok(self.with_layout(layout))
        }

        /// Returns the part at an index along an axis, which has one axis less.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// # use ndarray::Axis;
        /// let x = Array::from_shape_fn(&Device::cpu(), (2, 3), |(row, column)| 3 * row + column)?;
        /// assert_eq!(x.index_axis(Axis(1), 2)?.to_vec()?, [2, 5]);
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::NoSuchAxis`], [`Error::OutOfBounds`].
        #[doc(alias = "select", alias = "row", alias = "column")]
        pub fn index_axis(&self, axis: Axis, index: usize) -> Result<ArrayView<$life, T, D::Smaller>>
        where
            D: RemoveAxis,
        {
            Ok(self.with_layout(self.layout.index_axis(axis, index)?))
        }

        /// Returns the array with an axis of one element more, without a copy.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// # use ndarray::Axis;
        /// let x = Array::from_vec(&Device::cpu(), vec![1, 2, 3])?;
        /// assert_eq!(x.insert_axis(Axis(1))?.shape(), [3, 1]);
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::NoSuchAxis`] if there are fewer axes before it.
        #[doc(alias = "unsqueeze", alias = "newaxis", alias = "expand_dims")]
        pub fn insert_axis(&self, axis: Axis) -> Result<ArrayView<$life, T, D::Larger>> {
            Ok(self.with_layout(self.layout.insert_axis(axis)?))
        }

        /// Returns the whole array as a view, with its number of axes known when the program runs.
        ///
        /// ```
        /// # use gpukernel::Device;
        /// # use gpukernel_array::Array;
        /// let x = Array::<f32, _>::zeros(&Device::cpu(), (2, 3))?;
        /// assert_eq!(x.as_dyn().into_dimensionality::<ndarray::Ix2>()?.shape(), [2, 3]);
        /// # Ok::<(), gpukernel_array::Error>(())
        /// ```
        pub fn as_dyn(&self) -> ArrayView<$life, T, IxDyn> {
            self.with_layout(self.layout.clone().into_dyn())
        }
    };
}
pub(crate) use view_methods;

impl<'a, T: DeviceCopy, D: Dimension> ArrayView<'a, T, D> {
    /// A part of a buffer.
    pub(crate) fn of(buffer: &'a Buffer<T>, layout: Layout<D>) -> Self {
        Self { memory: buffer, layout, device: Some(buffer.device()) }
    }

    shape_methods! {}

    view_methods! { 'a }

    /// Views device memory as an array of a shape, in row-major order.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_array::ArrayView;
    ///
    /// let buffer = Device::cpu().upload(&[1, 2, 3, 4])?;
    /// assert_eq!(ArrayView::from_shape((2, 2), &buffer)?.t().to_vec()?, [1, 3, 2, 4]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongLength`] if the memory has another number of elements.
    pub fn from_shape(shape: impl IntoDimension<Dim = D>, memory: &'a DeviceSlice<T>) -> Result<Self> {
        Ok(Self { layout: layout_of(shape.into_dimension(), memory.len())?, memory, device: None })
    }

    /// Returns the elements as kernels take them, if they lie in row-major order without gaps (ndarray's `as_slice`).
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// # use ndarray::s;
    /// let x = Array::from_shape_fn(&Device::cpu(), (2, 2), |(row, column)| 2 * row + column)?;
    /// assert_eq!(x.slice(s![1.., ..])?.as_slice().map(|row| row.to_vec()).transpose()?, Some(vec![2, 3]));
    /// assert!(x.t().as_slice().is_none());
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn as_slice(&self) -> Option<&'a DeviceSlice<T>> {
        let layout = &self.layout;
        if layout.is_standard() { part(self.memory, layout.origin(), layout.len()).ok() } else { None }
    }

    /// Returns the same view.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let x = Array::from_vec(&Device::cpu(), vec![1, 2, 3])?;
    /// assert_eq!(x.view().view().to_vec()?, [1, 2, 3]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn view(&self) -> Self {
        self.clone()
    }

    /// Returns the view with the number of axes of a type.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let x = Array::<f32, _>::zeros(&Device::cpu(), ndarray::IxDyn(&[2, 3]))?;
    /// assert!(x.view().into_dimensionality::<ndarray::Ix2>().is_ok());
    /// assert!(x.view().into_dimensionality::<ndarray::Ix3>().is_err());
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDimension`] if it has another number of axes.
    pub fn into_dimensionality<E: Dimension>(self) -> Result<ArrayView<'a, T, E>> {
        Ok(self.with_layout(self.layout.with_dimension()?))
    }

    /// Returns the view with its number of axes known when the program runs.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let x = Array::<f32, _>::zeros(&Device::cpu(), (2, 3))?;
    /// assert_eq!(x.view().into_dyn().raw_dim(), ndarray::IxDyn(&[2, 3]));
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn into_dyn(self) -> ArrayView<'a, T, IxDyn> {
        self.as_dyn()
    }

    fn with_layout<E: Dimension>(&self, layout: Layout<E>) -> ArrayView<'a, T, E> {
        ArrayView { memory: self.memory, layout, device: self.device }
    }

    pub(crate) fn into_input(self) -> Input<'a, T> {
        Input::array(self.memory, self.layout.into_dyn())
    }

    pub(crate) fn parts(&self) -> (&'a DeviceSlice<T>, &Layout<D>) {
        (self.memory, &self.layout)
    }

    /// The device of the elements; the CPU device for a slice without bytes.
    pub(crate) fn device(&self) -> Device {
        self.device.cloned().or_else(|| self.memory.owner()).unwrap_or_else(Device::cpu)
    }
}

impl<'a, T: DeviceCopy, D: Dimension> ArrayViewMut<'a, T, D> {
    /// The caller ensures that no two positions are the same element: kernels refuse others.
    pub(crate) fn new(memory: &'a mut DeviceSlice<T>, layout: Layout<D>) -> Self {
        Self { memory, layout, device: None }
    }

    /// A part of a buffer. As [`new`](Self::new).
    pub(crate) fn of(buffer: &'a mut Buffer<T>, layout: Layout<D>) -> Self {
        let device = buffer.owner().is_none().then(|| buffer.device().clone());
        Self { memory: buffer, layout, device }
    }

    shape_methods! {}

    /// Views device memory as an array of a shape, in row-major order, for writing.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_array::ArrayViewMut;
    ///
    /// let mut buffer = Device::cpu().upload(&[1, 2, 3, 4])?;
    /// ArrayViewMut::from_shape((2, 2), &mut buffer)?.assign(7)?;
    /// assert_eq!(buffer.to_vec()?, [7; 4]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongLength`] if the memory has another number of elements.
    pub fn from_shape(shape: impl IntoDimension<Dim = D>, memory: &'a mut DeviceSlice<T>) -> Result<Self> {
        Ok(Self { layout: layout_of(shape.into_dimension(), memory.len())?, memory, device: None })
    }

    /// Returns the array for reading.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let mut x = Array::from_vec(&Device::cpu(), vec![1, 2, 3])?;
    /// assert_eq!(x.view_mut().view().to_vec()?, [1, 2, 3]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn view(&self) -> ArrayView<'_, T, D> {
        ArrayView { memory: self.memory, layout: self.layout.clone(), device: self.device.as_ref() }
    }

    /// Returns the elements for writing, as kernels take them, if they lie in row-major order without gaps (ndarray's `as_slice_mut`).
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let mut x = Array::from_vec(&Device::cpu(), vec![1, 2, 3])?;
    /// if let Some(slice) = x.view_mut().as_mut_slice() {
    ///     slice[1..].fill(0)?;
    /// }
    /// assert_eq!(x.to_vec()?, [1, 0, 0]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    #[doc(alias = "as_slice_mut")]
    pub fn as_mut_slice(&mut self) -> Option<&mut DeviceSlice<T>> {
        let layout = &self.layout;
        if layout.is_standard() { part_mut(self.memory, layout.origin(), layout.len()).ok() } else { None }
    }

    /// Returns the array for writing, borrowed from this view.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let mut x = Array::from_vec(&Device::cpu(), vec![1, 2, 3])?;
    /// let mut view = x.view_mut();
    /// view.view_mut().assign(0)?;
    /// assert_eq!(view.view().to_vec()?, [0, 0, 0]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn view_mut(&mut self) -> ArrayViewMut<'_, T, D> {
        ArrayViewMut { memory: self.memory, layout: self.layout.clone(), device: self.device.clone() }
    }

    /// Returns a part for writing, as [`Array::slice`].
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// # use ndarray::s;
    /// let mut x = Array::from_vec(&Device::cpu(), vec![1, 2, 3])?;
    /// x.view_mut().slice_move(s![1..])?.assign(0)?;
    /// assert_eq!(x.to_vec()?, [1, 0, 0]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchSlice`].
    pub fn slice_move<I: SliceArg<D>>(self, info: I) -> Result<ArrayViewMut<'a, T, I::OutDim>> {
        Ok(ArrayViewMut { layout: self.layout.slice(&info)?, memory: self.memory, device: self.device })
    }

    /// Returns the array with the axes in the opposite order, for writing.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, Array2};
    /// let device = Device::cpu();
    /// let mut x = Array::zeros(&device, (2, 2))?;
    /// let y = Array::from_shape_vec(&device, (2, 2), vec![1, 2, 3, 4])?;
    /// x.view_mut().reversed_axes().assign(&y)?;
    /// assert_eq!(x.to_vec()?, [1, 3, 2, 4]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    #[doc(alias = "t", alias = "transpose")]
    pub fn reversed_axes(self) -> Self {
        Self { layout: self.layout.reversed_axes(), ..self }
    }

    /// Returns the array with its axes in another order, for writing.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let mut x = Array::<u8, _>::zeros(&Device::cpu(), (2, 3, 4))?;
    /// assert_eq!(x.view_mut().permuted_axes((1, 2, 0))?.shape(), [3, 4, 2]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotAPermutation`].
    pub fn permuted_axes(self, axes: impl IntoDimension<Dim = D>) -> Result<Self> {
        Ok(Self { layout: self.layout.permuted(&axes.into_dimension())?, ..self })
    }

    /// Returns the array in another shape, with the elements in the same order, for writing.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// # use ndarray::s;
    /// let mut x = Array::zeros(&Device::cpu(), 6)?;
    /// x.view_mut().into_shape((2, 3))?.slice_move(s![.., 0])?.assign(1_u8)?;
    /// assert_eq!(x.to_vec()?, [1, 0, 0, 1, 0, 0]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongLength`], and [`Error::NeedsCopy`] where the strides do not allow it.
    #[doc(alias = "into_shape_with_order", alias = "reshape")]
    pub fn into_shape<E: IntoDimension>(self, shape: E) -> Result<ArrayViewMut<'a, T, E::Dim>> {
        let layout = self.layout.reshape(shape.into_dimension())?;
        Ok(ArrayViewMut { layout, memory: self.memory, device: self.device })
    }

    /// Returns the part at an index along an axis for writing, as [`Array::index_axis`].
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// # use ndarray::Axis;
    /// let mut x = Array::zeros(&Device::cpu(), (2, 2))?;
    /// x.view_mut().index_axis_move(Axis(1), 0)?.assign(1_i32)?;
    /// assert_eq!(x.to_vec()?, [1, 0, 1, 0]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchAxis`], [`Error::OutOfBounds`].
    pub fn index_axis_move(self, axis: Axis, index: usize) -> Result<ArrayViewMut<'a, T, D::Smaller>>
    where
        D: RemoveAxis,
    {
        Ok(ArrayViewMut {
            layout: self.layout.index_axis(axis, index)?,
            memory: self.memory,
            device: self.device,
        })
    }

    /// Returns the array with its number of axes known when the program runs.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let mut x = Array::<f32, _>::zeros(&Device::cpu(), (2, 3))?;
    /// assert_eq!(x.view_mut().into_dyn().raw_dim(), ndarray::IxDyn(&[2, 3]));
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn into_dyn(self) -> ArrayViewMut<'a, T, IxDyn> {
        ArrayViewMut { memory: self.memory, layout: self.layout.into_dyn(), device: self.device }
    }

    /// Returns the view with the number of axes of a type.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let mut x = Array::<f32, _>::zeros(&Device::cpu(), ndarray::IxDyn(&[2, 3]))?;
    /// x.view_mut().into_dimensionality::<ndarray::Ix2>()?.assign(1.0)?;
    /// assert!(x.view_mut().into_dimensionality::<ndarray::Ix3>().is_err());
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDimension`] if it has another number of axes.
    pub fn into_dimensionality<E: Dimension>(self) -> Result<ArrayViewMut<'a, T, E>> {
        Ok(ArrayViewMut { layout: self.layout.with_dimension()?, memory: self.memory, device: self.device })
    }

    pub(crate) fn layout(&self) -> &Layout<D> {
        &self.layout
    }

    pub(crate) fn into_parts(self) -> (&'a mut DeviceSlice<T>, Layout<D>) {
        (self.memory, self.layout)
    }
}

impl<'a, T: DeviceCopy> From<&'a DeviceSlice<T>> for ArrayView<'a, T, Ix1> {
    fn from(memory: &'a DeviceSlice<T>) -> Self {
        // Not more than `isize::MAX`, as all slices.
        Self { layout: Layout::line(memory.len()), memory, device: None }
    }
}

/// The standard layout of a shape, for so many elements.
pub(crate) fn layout_of<D: Dimension>(shape: D, len: usize) -> Result<Layout<D>> {
    Layout::line(len).check_length(shape.slice())?;
    Layout::standard(shape)
}
