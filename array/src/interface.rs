//! NumPy's `__array_interface__` and Numba's `__cuda_array_interface__`, version 3, both ways, without Python.

use std::{any::Any, ffi::c_void};

use gpukernel::{Device, Stream};
use ndarray::Dimension;

use crate::{
    Array, ArrayView, ArrayViewMut, Element, ElementType, Error, ForeignArray, Result, foreign::Description,
};

const WHAT: &str = "an array interface";

/// What `__cuda_array_interface__` of Python objects says of an array in the memory of a GPU, and `__array_interface__` of one in that of the host, in version 3 of both.
///
/// Numba's documentation describes the fields ("CUDA Array Interface (Version 3)"), NumPy's those of the host ("The array interface protocol").
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_array::{Array, ArrayInterface, ForeignArray};
///
/// let device = Device::cpu();
/// let x = Array::from_shape_vec(&device, (2, 3), [1_u16, 2, 3, 4, 5, 6])?;
/// let interface = x.t().interface()?;
/// assert_eq!((&interface.shape[..], &interface.typestr[..]), (&[3, 2][..], "<u2"));
/// assert_eq!(interface.strides, Some(vec![2, 6])); // in bytes
///
/// // SAFETY: it describes `x`, which is dropped when it is no longer used, and which nobody writes.
/// let y: ForeignArray<u16, ndarray::Ix2> = unsafe { ForeignArray::from_interface(&device, &interface, x)? };
/// assert_eq!(y.to_vec()?, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(alias = "__cuda_array_interface__", alias = "__array_interface__", alias = "CUDA Array Interface")]
pub struct ArrayInterface {
    /// The number of elements along each axis.
    pub shape: Vec<usize>,
    /// The type of the elements, such as `<f4`.
    pub typestr: String,
    /// The address of the element of all indices 0, and whether the array must not be written.
    pub data: (usize, bool),
    /// Bytes from one index to the next along each axis; `None` for row-major order without gaps.
    pub strides: Option<Vec<isize>>,
    /// On a GPU, the stream after whose work the elements are there: 1 is the legacy default stream, 2 the per-thread default stream, and others are handles. `None` if they are there
    /// already.
    pub stream: Option<usize>,
    /// The version of the protocol.
    pub version: u32,
}

impl ArrayInterface {
    /// The version that this crate writes.
    pub const VERSION: u32 = 3;

    /// Describes an array of version 3, which is there already, at an address.
    ///
    /// ```
    /// use gpukernel_array::ArrayInterface;
    ///
    /// let interface = ArrayInterface::new((4096, false), "<f4", [2, 3]);
    /// assert_eq!((interface.version, interface.strides), (3, None));
    /// ```
    pub fn new(data: (usize, bool), typestr: impl Into<String>, shape: impl Into<Vec<usize>>) -> Self {
        let (shape, typestr) = (shape.into(), typestr.into());
        Self { shape, typestr, data, strides: None, stream: None, version: Self::VERSION }
    }

    fn of<T: Element>(
        shape: &[usize],
        strides: Vec<isize>,
        address: usize,
        is_read_only: bool,
    ) -> Result<Self> {
        let element = T::ELEMENT_TYPE;
        let typestr = element.typestr().ok_or(Error::NoSuchElementType { what: WHAT, element })?;
        let strides =
            strides.into_iter().map(|stride| stride.wrapping_mul(size_of::<T>() as isize)).collect();
        Ok(Self { strides: Some(strides), ..Self::new((address, is_read_only), typestr, shape) })
    }

    /// The type of the elements, and the strides in elements.
    fn check(&self, asked: ElementType) -> Result<Vec<isize>> {
        let error = |reason: String| Error::Foreign { what: WHAT, reason };
        if self.version < 2 {
            return Err(error(format!(
                "it is of version {}, and versions from 2 on are known",
                self.version
            )));
        }
        let found = ElementType::from_typestr(&self.typestr)?;
        if found != asked {
            return Err(Error::WrongElementType { what: WHAT, found: found.to_string(), asked });
        }
        let bytes = isize::from(asked.bytes);
        match &self.strides {
            None => {
                let mut stride = 1_isize;
                let mut strides: Vec<isize> = self
                    .shape
                    .iter()
                    .rev()
                    .map(|&extent| {
                        let own = stride;
                        // What is too large is found out with the shape.
                        stride = stride.wrapping_mul(extent as isize);
                        own
                    })
                    .collect();
                strides.reverse();
                Ok(strides)
            }
            Some(strides) if strides.len() != self.shape.len() => {
                Err(error(format!("it has {} axes and {} strides", self.shape.len(), strides.len())))
            }
            Some(strides) => {
                let in_elements =
                    self.shape.iter().zip(strides).map(|(&extent, &stride)| match stride % bytes {
                        0 => Ok(stride / bytes),
                        _ if extent < 2 => Ok(0),
                        _ => Err(error(format!("a stride is {stride} bytes, and {asked} has {bytes}"))),
                    });
                in_elements.collect()
            }
        }
    }
}

impl<T: Element, D: Dimension> ForeignArray<T, D> {
    /// Takes over an array that an interface describes, without a copy. On a GPU, it is used after what is queued on the [stream](ArrayInterface::stream) of the interface. `owner` is
    /// dropped when the array is gone, and no work of this device uses it.
    ///
    /// [`ArrayInterface`] has an example.
    ///
    /// # Errors
    /// [`Error::WrongElementType`]; [`Error::Foreign`] for strides that are not multiples of the size of an element or reach too far, another number of strides than axes, an old version, and
    /// the stream 0, which is ambiguous; [`Error::WrongDimension`], [`Error::TooLarge`]; as [`Buffer::from_foreign`](gpukernel::Buffer::from_foreign).
    ///
    /// # Safety
    /// As [`from_raw`](Self::from_raw), and the interface is that of memory of the device. If it is read-only, nobody else writes it meanwhile. The stream is one of the device's primary
    /// context, or the number of a default stream.
    pub unsafe fn from_interface(
        device: &Device,
        interface: &ArrayInterface,
        owner: impl Any + Send + Sync,
    ) -> Result<Self> {
        let stream = device.default_stream();
        let strides = interface.check(T::ELEMENT_TYPE)?;
        match interface.stream {
            Some(0) => {
                let reason = "its stream is 0, which is either of two; the legacy default stream is 1, the per-thread one 2".to_owned();
                return Err(Error::Foreign { what: WHAT, reason });
            }
            Some(theirs) if device.is_gpu() => {
                let theirs = std::ptr::with_exposed_provenance_mut::<c_void>(theirs);
                // SAFETY: as the caller promises.
                unsafe { device.with_foreign_stream(theirs, |theirs| stream.wait(&theirs.record()?))? };
            }
            _ => {}
        }
        let description = Description {
            what: WHAT,
            address: interface.data.0,
            shape: &interface.shape,
            strides: &strides,
            is_read_only: interface.data.1,
        };
        let owner = WaitFirst { stream: stream.clone(), owner };
        // SAFETY: as the caller promises.
        unsafe { Self::described(&stream, &description, owner) }
    }
}

/// An owner that is dropped when the work on a stream is done: others may free the memory at once.
pub(crate) struct WaitFirst<O> {
    pub(crate) stream: Stream,
    // Dropped after the code below.
    #[allow(dead_code, reason = "it is there to be dropped")]
    pub(crate) owner: O,
}

impl<O> Drop for WaitFirst<O> {
    fn drop(&mut self) {
        // Errors of work are for whoever waits next. If waiting fails, the context is lost, and with it the work.
        let _ = self.stream.__wait_until_done();
    }
}

macro_rules! interface {
    ($Array:ty, $is_read_only:literal, $self:ty, $borrowed:literal) => {
        impl<T: Element, D: Dimension> $Array {
            /// Describes the array for Python objects: `__cuda_array_interface__` on a GPU, and `__array_interface__` on the CPU device. Waits for the work that
            /// uses it, so that it has no [stream](ArrayInterface::stream).
            ///
            #[doc = $borrowed]
            ///
            /// [`ArrayInterface`] has an example.
            ///
            /// # Errors
            /// [`Error::NoSuchElementType`] for `bf16`, which it has no name for; as [`Device::synchronize`].
            #[doc(alias = "__cuda_array_interface__", alias = "__array_interface__")]
            pub fn interface(self: $self) -> Result<ArrayInterface> {
                let view = self.view();
                let (memory, layout) = view.parts();
                let address = memory.as_ptr().wrapping_add(layout.origin()).addr();
                let strides = layout.strides().collect();
                let interface = ArrayInterface::of::<T>(layout.shape(), strides, address, $is_read_only)?;
                memory.__wait(!$is_read_only)?;
                Ok(interface)
            }
        }
    };
}

interface! { Array<T, D>, false, &mut Self, "Others may write it as long as they use it, during which this program must not." }
interface! { ArrayView<'_, T, D>, true, &Self, "It is read-only." }
interface! { ArrayViewMut<'_, T, D>, false, &mut Self, "Others may write it as long as they use it, during which this program must not." }
