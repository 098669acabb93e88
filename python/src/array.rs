//! Arrays that functions take.

use gpu_std::{DeviceCopy, host::Parameter};
use gpukernel::{CurrentContext, Device, ThisRuntime};
use gpukernel_array::{
    __NotContiguous as NotContiguous, Argument, Arguments, Array, ArrayView, ArrayViewMut, Element,
    ForeignArray, Input, Operand,
};
use ndarray::{Dimension, IxDyn};
use pyo3::{Borrowed, prelude::*};

use crate::{DeviceArray, Error, Result, borrow::Borrow, import, library::Library};

/// An array of a Python library, borrowed for reading by a function: NumPy's, CuPy's, PyTorch's, or any other object with `__dlpack__`, `__cuda_array_interface__` or the buffer protocol.
///
/// It is where the object has it, without a copy: on a GPU, or on the CPU device for memory of the host. On a GPU it is used after the work that the library has queued, and what the
/// library queues after the function returns comes after the work of the function.
///
/// `T` is one of the numbers with an [`Element`] type of which all bytes are values, and `D` the number of axes, any by default.
///
/// ```no_run,standalone_crate
/// use gpukernel_python::{PyArray, Result};
/// use ndarray::Ix2;
/// use pyo3::prelude::*;
///
/// /// The sum of the first column of a matrix of float64.
/// #[pyfunction]
/// fn first_column(x: PyArray<'_, f64, Ix2>) -> Result<f64> {
///     let column = x.view().index_axis(ndarray::Axis(1), 0)?;
///     Ok(column.to_vec()?.iter().sum())
/// }
/// ```
///
/// # Errors
/// Of the conversion: `TypeError` for other objects and elements, `ValueError` for another number of axes, `BufferError` if the same function has memory of it for writing.
///
/// # Safety
/// It takes on trust what objects of compiled libraries say of their memory, as PyO3's buffers do, and that no other thread writes the array meanwhile.
#[derive(Debug)]
#[doc(alias = "PyReadonlyArray", alias = "asarray")]
#[doc(alias = "as_cuda_array", alias = "__cuda_array_interface__")]
pub struct PyArray<'py, T: DeviceCopy, D: Dimension = IxDyn> {
    // Before the borrow ends.
    array: ForeignArray<T, D>,
    object: Bound<'py, PyAny>,
    library: Library,
    _borrow: Borrow,
    /// The library's device stays the current one of this thread.
    _kept: Option<CurrentContext>,
}

/// An array of a Python library, borrowed for reading and writing by a function, as [`PyArray`]: no other array of the function's has memory of it.
///
/// ```no_run,standalone_crate
/// use gpukernel_python::{PyArrayMut, Result};
/// use pyo3::prelude::*;
///
/// /// Sets all elements of an array of int32 to a number.
/// #[pyfunction]
/// fn fill(mut x: PyArrayMut<'_, i32>, value: i32) -> Result<()> {
///     Ok(x.view_mut()?.assign(value)?)
/// }
/// ```
///
/// # Errors
/// Of the conversion: as [`PyArray`], and `BufferError` for an array that is read-only, `ValueError` for one with two positions that are the same element, as after a broadcast.
///
/// # Safety
/// As [`PyArray`]; and no other thread reads the array meanwhile.
#[derive(Debug)]
#[doc(alias = "PyReadwriteArray")]
pub struct PyArrayMut<'py, T: DeviceCopy, D: Dimension = IxDyn>(PyArray<'py, T, D>);

impl<'py, T: Element, D: Dimension> PyArray<'py, T, D> {
    fn import(object: Bound<'py, PyAny>, is_to_be_written: bool) -> Result<Self> {
        const {
            assert!(
                T::ANY_BYTES,
                "not all bytes are values of the type, and nobody checks those of an array: take numbers"
            );
        }
        let library = Library::of(&object);
        let kept = (library != Library::NumPy).then(CurrentContext::keep);
        let array = import::import::<T>(&object, library, is_to_be_written)?.into_dimensionality::<D>()?;
        if is_to_be_written && library.is_immutable() {
            return Err(gpukernel_array::Error::ReadOnly { shape: array.shape().to_vec() }.into());
        }
        let borrow = Borrow::new(import::place(&array), is_to_be_written)?;
        Ok(Self { array, object, library, _borrow: borrow, _kept: kept })
    }

    /// Returns an array as an object of the same library as this one, without a copy: `numpy.ndarray` for `numpy.ndarray`, and so on. It is [`DeviceArray`], which they all take,
    /// for objects of libraries that are not known. An array on a GPU is copied to the host for NumPy.
    ///
    /// # Errors
    /// What the library says.
    pub fn like<E: Dimension, U: Element>(&self, array: Array<U, E>) -> Result<Bound<'py, PyAny>> {
        self.library.take(&self.object, DeviceArray::new(array))
    }
}

impl<'py, T: DeviceCopy, D: Dimension> PyArray<'py, T, D> {
    /// Returns the array for reading.
    pub fn view(&self) -> ArrayView<'_, T, D> {
        self.array.view()
    }

    /// Returns the device that has the elements.
    pub fn device(&self) -> &Device {
        self.array.device()
    }

    /// Returns the number of elements along each axis.
    pub fn shape(&self) -> &[usize] {
        self.array.shape()
    }

    /// Returns the object.
    pub fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }
}

impl<'py, T: Element, D: Dimension> PyArrayMut<'py, T, D> {
    /// Returns an array as an object of the same library, as [`PyArray::like`].
    ///
    /// # Errors
    /// As there.
    pub fn like<E: Dimension, U: Element>(&self, array: Array<U, E>) -> Result<Bound<'py, PyAny>> {
        self.0.like(array)
    }
}

impl<'py, T: DeviceCopy, D: Dimension> PyArrayMut<'py, T, D> {
    /// Returns the array for reading.
    pub fn view(&self) -> ArrayView<'_, T, D> {
        self.0.view()
    }

    /// Returns the array for writing.
    ///
    /// # Errors
    /// None: the conversion has found that it can be written.
    pub fn view_mut(&mut self) -> gpukernel_array::Result<ArrayViewMut<'_, T, D>> {
        self.0.array.view_mut()
    }

    /// Returns the device that has the elements.
    pub fn device(&self) -> &Device {
        self.0.device()
    }

    /// Returns the number of elements along each axis.
    pub fn shape(&self) -> &[usize] {
        self.0.shape()
    }

    /// Returns the object.
    pub fn object(&self) -> &Bound<'py, PyAny> {
        self.0.object()
    }
}

impl<'py, T: Element, D: Dimension> FromPyObject<'_, 'py> for PyArray<'py, T, D> {
    type Error = Error;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self> {
        Self::import(object.to_owned(), false)
    }
}

impl<'py, T: Element, D: Dimension> FromPyObject<'_, 'py> for PyArrayMut<'py, T, D> {
    type Error = Error;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self> {
        let mut array = PyArray::import(object.to_owned(), true)?;
        array.array.view_mut()?;
        Ok(Self(array))
    }
}

macro_rules! operands {
    ($($Operand:ty: $($field:tt).+;)*) => {$(
        impl<T: DeviceCopy, D: Dimension> Operand<T> for $Operand {
            type Dim = D;

            fn input(&self) -> Input<'_, T> {
                Operand::input(&self.$($field).+)
            }
        }

        impl<T: DeviceCopy, D: Dimension, P: Parameter> Argument<P> for $Operand
        where
            ForeignArray<T, D>: Argument<P>,
        {
            fn measured(&self) -> P {
                self.$($field).+.measured()
            }

            fn arg(&self) -> std::result::Result<P::Arg<'_, ThisRuntime>, NotContiguous> {
                self.$($field).+.arg()
            }
        }
    )*};
}

operands! {
    PyArray<'_, T, D>: array;
    &PyArray<'_, T, D>: array;
    PyArrayMut<'_, T, D>: 0.array;
    &PyArrayMut<'_, T, D>: 0.array;
}

macro_rules! single {
    ($($Argument:ty),*) => {$(
        impl<T: DeviceCopy, D: Dimension, P: Parameter> Arguments<(T,), (P,)> for $Argument
        where
            Self: Argument<P>,
        {
            fn measured(&self) -> (P,) {
                (Argument::measured(self),)
            }

            fn args(&self, function: &'static str) -> gpukernel_array::Result<(P::Arg<'_, ThisRuntime>,)> {
                Ok((self.arg().map_err(|error| error.of(function, 0))?,))
            }
        }
    )*};
}

single! { &PyArray<'_, T, D>, &PyArrayMut<'_, T, D> }
