//! Arrays in memory of other libraries, taken over without a copy.

use gpu_std::DeviceCopy;
use gpukernel::{Buffer, Device, Stream};
use ndarray::{Axis, Dimension, IntoDimension, IxDyn, RemoveAxis, SliceArg};

use crate::{
    Array, ArrayView, ArrayViewMut, Error, Result,
    layout::Layout,
    view::{shape_methods, view_methods},
};

/// An array in the memory of another library, of any strides, which that library frees when this is dropped.
///
/// It comes by DLPack (`from_dlpack`, with the feature `dlpack`), [by `__cuda_array_interface__`](Self::from_interface), or [by its address](Self::from_raw), without a copy.
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_array::ForeignArray;
///
/// let mut theirs = vec![1, 2, 3, 4, 5, 6].into_boxed_slice();
/// let start = theirs.as_mut_ptr();
/// // SAFETY: the box has six elements, and stays where it is until it is dropped.
/// let mut x = unsafe { ForeignArray::from_raw(&Device::cpu().default_stream(), start, (2, 3), (1, 2), theirs)? };
/// assert_eq!(format!("{x}"), "[[1, 3, 5],\n [2, 4, 6]]");
/// x.view_mut()?.assign(0)?;
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[doc(alias = "asarray", alias = "from_dlpack", alias = "ExternalMemory")]
pub struct ForeignArray<T: DeviceCopy, D> {
    buffer: Buffer<T>,
    /// Inside of the buffer.
    layout: Layout<D>,
    is_read_only: bool,
}

/// What another library says of an array.
pub(crate) struct Description<'a> {
    /// By which protocol, for errors.
    pub(crate) what: &'static str,
    pub(crate) address: usize,
    pub(crate) shape: &'a [usize],
    /// In elements.
    pub(crate) strides: &'a [isize],
    pub(crate) is_read_only: bool,
}

impl<T: DeviceCopy, D: Dimension> ForeignArray<T, D> {
    /// Takes over an array by the address of the element of all indices 0, with a stride along each axis, in elements, which may be 0 or negative. Work uses it after what is queued on
    /// `stream` by now; as [`Buffer::from_foreign`], which says when `owner` is dropped.
    ///
    /// # Errors
    /// [`Error::WrongDimension`] for another number of strides than axes, [`Error::TooLarge`], [`Error::Foreign`] for strides that reach further than memory; as [`Buffer::from_foreign`].
    ///
    /// # Safety
    /// As [`Buffer::from_foreign`], for the elements. What lies between them in memory is not used.
    pub unsafe fn from_raw(
        stream: &Stream,
        start: *mut T,
        shape: impl IntoDimension<Dim = D>,
        strides: impl IntoDimension<Dim = D>,
        owner: impl std::any::Any + Send + Sync,
    ) -> Result<Self> {
        let (shape, strides) = (shape.into_dimension(), strides.into_dimension());
        let strides: Vec<isize> = strides.slice().iter().map(|&stride| stride as isize).collect();
        let description = Description {
            what: "memory of another library",
            address: start.expose_provenance(),
            shape: shape.slice(),
            strides: &strides,
            is_read_only: false,
        };
        // SAFETY: as the caller promises.
        unsafe { Self::described(stream, &description, owner) }
    }

    /// Takes over an array that another library describes.
    ///
    /// # Safety
    /// As [`from_raw`](Self::from_raw), but for writing if it is read-only.
    pub(crate) unsafe fn described(
        stream: &Stream,
        description: &Description<'_>,
        owner: impl std::any::Any + Send + Sync,
    ) -> Result<Self> {
        let &Description { what, address, shape, strides, is_read_only } = description;
        let too_far = || Error::Foreign {
            what,
            reason: format!(
                "an array of shape {shape:?} and strides {strides:?} reaches further than memory"
            ),
        };
        let (layout, len) = Layout::strided(shape, strides)?.ok_or_else(too_far)?;
        let layout = layout.with_dimension::<D>()?;
        if len.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes > isize::MAX as usize) {
            return Err(too_far());
        }
        let before = layout.origin().checked_mul(size_of::<T>()).ok_or_else(too_far)?;
        let start = if len == 0 { address } else { address.checked_sub(before).ok_or_else(too_far)? };
        let start = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: as the caller promises.
        let buffer = unsafe { Buffer::from_foreign(stream, start, len, owner)? };
        Ok(Self { buffer, layout, is_read_only })
    }

    shape_methods! {}

    view_methods! { '_ }

    /// Returns the device whose memory it is.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::ForeignArray;
    /// # let mut theirs = vec![1, 2, 3];
    /// # let start = theirs.as_mut_ptr();
    /// # // SAFETY: the vector has three elements, and stays where it is until it is dropped.
    /// # let x = unsafe { ForeignArray::from_raw(&Device::cpu().default_stream(), start, 3, 1, theirs)? };
    /// assert_eq!(x.device(), &Device::cpu());
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// Returns whether the other library forbids writing.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::ForeignArray;
    /// # let mut theirs = vec![1, 2, 3];
    /// # let start = theirs.as_mut_ptr();
    /// # // SAFETY: the vector has three elements, and stays where it is until it is dropped.
    /// # let x = unsafe { ForeignArray::from_raw(&Device::cpu().default_stream(), start, 3, 1, theirs)? };
    /// assert!(!x.is_read_only());
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Returns the array for reading.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::ForeignArray;
    /// # let mut theirs = vec![1, 2, 3];
    /// # let start = theirs.as_mut_ptr();
    /// # // SAFETY: the vector has three elements, and stays where it is until it is dropped.
    /// # let x = unsafe { ForeignArray::from_raw(&Device::cpu().default_stream(), start, 3, 1, theirs)? };
    /// assert_eq!(x.view().to_vec()?, [1, 2, 3]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn view(&self) -> ArrayView<'_, T, D> {
        ArrayView::of(&self.buffer, self.layout.clone())
    }

    /// Returns the array for writing.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::ForeignArray;
    /// # let mut theirs = vec![1, 2, 3];
    /// # let start = theirs.as_mut_ptr();
    /// # // SAFETY: the vector has three elements, and stays where it is until it is dropped.
    /// # let mut x = unsafe { ForeignArray::from_raw(&Device::cpu().default_stream(), start, 3, 1, theirs)? };
    /// x.view_mut()?.assign(7)?;
    /// assert_eq!(x.view().to_vec()?, [7, 7, 7]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`OverlappingElements`](gpukernel::Error::OverlappingElements) if two positions may be the same element, as along an axis that is broadcast.
    pub fn view_mut(&mut self) -> Result<ArrayViewMut<'_, T, D>> {
        self.check_writable()?;
        Ok(ArrayViewMut::of(&mut self.buffer, self.layout.clone()))
    }

    /// Returns it as an array that owns its elements, as those of new memory.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::ForeignArray;
    /// # let mut theirs = vec![1, 2, 3, 4];
    /// # let start = theirs.as_mut_ptr();
    /// # // SAFETY: the vector has four elements, and stays where it is until it is dropped.
    /// # let x = unsafe { ForeignArray::from_raw(&Device::cpu().default_stream(), start, (2, 2), (2, 1), theirs)? };
    /// assert_eq!(x.into_array()?.into_shape(4)?.to_vec()?, [1, 2, 3, 4]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ReadOnly`], and [`Error::NeedsCopy`] if the elements are not in row-major order without gaps; [`to_owned`](Self::to_owned) copies.
    pub fn into_array(self) -> Result<Array<T, D>> {
        self.check_writable()?;
        if !self.layout.is_standard() || self.buffer.len() != self.layout.len() {
            return Err(Error::NeedsCopy {
                asked: self.shape().to_vec(),
                shape: self.shape().to_vec(),
                strides: self.strides(),
            });
        }
        Ok(Array::new(self.buffer, Layout::standard(self.layout.dim().clone())?))
    }

    /// Returns the array with its number of axes known when the program runs.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::ForeignArray;
    /// # let mut theirs = vec![1, 2, 3];
    /// # let start = theirs.as_mut_ptr();
    /// # // SAFETY: the vector has three elements, and stays where it is until it is dropped.
    /// # let x = unsafe { ForeignArray::from_raw(&Device::cpu().default_stream(), start, 3, 1, theirs)? };
    /// assert_eq!(x.into_dyn().raw_dim(), ndarray::IxDyn(&[3]));
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    pub fn into_dyn(self) -> ForeignArray<T, IxDyn> {
        let Self { buffer, layout, is_read_only } = self;
        ForeignArray { buffer, layout: layout.into_dyn(), is_read_only }
    }

    /// Returns the array with the number of axes of a type.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::ForeignArray;
    /// # let mut theirs = vec![1, 2, 3];
    /// # let start = theirs.as_mut_ptr();
    /// # // SAFETY: the vector has three elements, and stays where it is until it is dropped.
    /// # let x = unsafe { ForeignArray::from_raw(&Device::cpu().default_stream(), start, 3, 1, theirs)? };
    /// assert!(x.into_dimensionality::<ndarray::Ix2>().is_err());
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDimension`] if it has another number of axes.
    pub fn into_dimensionality<E: Dimension>(self) -> Result<ForeignArray<T, E>> {
        let Self { buffer, layout, is_read_only } = self;
        Ok(ForeignArray { layout: layout.with_dimension()?, buffer, is_read_only })
    }

    /// The address of the element of all indices 0, if there is one.
    #[doc(hidden)]
    pub fn __address(&self) -> usize {
        self.buffer.as_ptr().wrapping_add(self.layout.origin()).addr()
    }

    fn check_writable(&self) -> Result<()> {
        match (self.is_read_only, self.layout.is_injective()) {
            (true, _) => Err(Error::ReadOnly { shape: self.shape().to_vec() }),
            (false, false) => Err(Error::Runtime(gpukernel::Error::OverlappingElements {
                shape: self.shape().to_vec(),
                strides: self.strides(),
            })),
            (false, true) => Ok(()),
        }
    }

    fn with_layout<E: Dimension>(&self, layout: Layout<E>) -> ArrayView<'_, T, E> {
        ArrayView::of(&self.buffer, layout)
    }
}
