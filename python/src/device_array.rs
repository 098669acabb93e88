//! The Python object that has an array, for all libraries.

use gpukernel_array::{Array, ConsumerStream, Element, ExportedArray};
use ndarray::Dimension;
use pyo3::{
    exceptions::{PyAttributeError, PyBufferError, PyValueError},
    intern,
    prelude::*,
    types::{PyDict, PyTuple},
};

use crate::{
    Error, Result,
    capsule::{self, Tensor},
};

/// An array on a GPU or on the CPU device as a Python object, which NumPy, CuPy, PyTorch and others take without a copy, and free when nobody uses it any more:
///
/// - `numpy.asarray(x)`, `numpy.from_dlpack(x)` on the CPU device; on a GPU `numpy.asarray(x)` copies to the host;
/// - `cupy.from_dlpack(x)`, `cupy.asarray(x)` on a GPU;
/// - `torch.from_dlpack(x)` on both.
///
/// It has `shape`, `dtype` and `device`, and the methods of the protocols: `__dlpack__`, `__dlpack_device__`, `__cuda_array_interface__` on a GPU, `__array_interface__` on the CPU device,
/// and `__array__`.
///
/// ```no_run,standalone_crate
/// use gpukernel::Device;
/// use gpukernel_array::Array;
/// use gpukernel_python::{DeviceArray, Result};
/// use pyo3::prelude::*;
///
/// /// So many numbers from 0 to 1, on the first GPU if there is one.
/// #[pyfunction]
/// fn linspace(len: usize) -> Result<DeviceArray> {
///     Ok(DeviceArray::new(Array::linspace(&Device::best()?, 0.0, 1.0, len)?))
/// }
/// ```
#[pyclass(frozen, weakref, module = "gpukernel")]
#[derive(Debug)]
#[doc(alias = "DeviceNDArray")]
pub struct DeviceArray {
    array: ExportedArray,
}

impl DeviceArray {
    /// Gives the array to Python.
    pub fn new<T: Element, D: Dimension>(array: Array<T, D>) -> Self {
        Self { array: ExportedArray::new(array) }
    }

    fn is_on_gpu(&self) -> bool {
        self.array.device().is_gpu()
    }

    /// DLPack's numbers of the device.
    fn dlpack_device(&self) -> (u32, i32) {
        match self.array.device().gpu_index() {
            None => (1, 0),
            Some(index) => (2, i32::try_from(index).unwrap_or(i32::MAX)),
        }
    }

    /// As a dictionary of an array interface.
    fn interface<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let interface = self.array.interface()?;
        let dict = PyDict::new(py);
        dict.set_item(intern!(py, "shape"), PyTuple::new(py, interface.shape)?)?;
        dict.set_item(intern!(py, "typestr"), interface.typestr)?;
        dict.set_item(intern!(py, "data"), interface.data)?;
        dict.set_item(
            intern!(py, "strides"),
            interface.strides.map(|strides| PyTuple::new(py, strides)).transpose()?,
        )?;
        dict.set_item(intern!(py, "version"), interface.version)?;
        Ok(dict)
    }
}

/// The error of an attribute that arrays of another kind of device have.
fn no_attribute(name: &str, device: &gpukernel::Device) -> Error {
    Error::Python(PyAttributeError::new_err(format!("an array of {device} has no `{name}`")))
}

#[pymethods]
impl DeviceArray {
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.shape())
    }

    #[getter]
    fn dtype(&self) -> String {
        self.array.element_type().to_string()
    }

    #[getter]
    fn ndim(&self) -> usize {
        self.array.shape().len()
    }

    /// `cpu`, `gpu:0`, and so on.
    #[getter]
    fn device(&self) -> String {
        self.array.device().id()
    }

    fn __repr__(&self) -> String {
        format!(
            "<DeviceArray of shape {:?} and dtype {} on {}>",
            self.array.shape(),
            self.dtype(),
            self.array.device()
        )
    }

    fn __dlpack_device__(&self) -> (u32, i32) {
        self.dlpack_device()
    }

    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<isize>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> Result<Bound<'py, PyAny>> {
        if copy == Some(true) || dl_device.is_some_and(|device| device != self.dlpack_device()) {
            let reason =
                "it gives its memory, and makes no copies, also not to other devices: copy what takes it";
            return Err(PyBufferError::new_err(reason).into());
        }
        let stream = match stream {
            Some(_) if !self.is_on_gpu() => {
                return Err(PyValueError::new_err("the CPU has no streams: `stream` has to be None").into());
            }
            None => ConsumerStream::legacy_default(),
            Some(-1) => ConsumerStream::unordered(),
            Some(0) => {
                let reason = "`stream` is 0, which is either of two: the legacy default stream is 1, the per-thread one 2";
                return Err(PyValueError::new_err(reason).into());
            }
            Some(handle) => {
                let handle =
                    usize::try_from(handle).map_err(|_| PyValueError::new_err("`stream` is no stream"))?;
                // SAFETY: the protocol says that it is a stream of the consumer's, who keeps it.
                unsafe { ConsumerStream::from_raw(std::ptr::with_exposed_provenance_mut(handle)) }
            }
        };
        let tensor = match max_version {
            Some((major, _)) if major >= 1 => Tensor::Versioned(self.array.to_dlpack(stream)?),
            _ => Tensor::Legacy(self.array.to_legacy_dlpack(stream)?),
        };
        Ok(capsule::of(py, tensor)?)
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        if !self.is_on_gpu() {
            return Err(no_attribute("__cuda_array_interface__", self.array.device()));
        }
        let dict = self.interface(py)?;
        // It was waited for.
        dict.set_item(intern!(py, "stream"), py.None())?;
        Ok(dict)
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        if self.is_on_gpu() {
            return Err(no_attribute("__array_interface__", self.array.device()));
        }
        self.interface(py)
    }

    /// For NumPy: of an array on a GPU, a copy.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> Result<Bound<'py, PyAny>> {
        if copy == Some(false) && self.is_on_gpu() {
            return Err(PyValueError::new_err(format!(
                "NumPy has arrays of {} only as copies",
                self.array.device()
            ))
            .into());
        }
        let array = if self.is_on_gpu() { self.array.to_cpu()? } else { self.array.clone() };
        let array = Bound::new(py, Self { array })?;
        let numpy = py.import(intern!(py, "numpy"))?;
        let make = if copy == Some(true) && !self.is_on_gpu() {
            intern!(py, "array")
        } else {
            intern!(py, "asarray")
        };
        let interface =
            PyInterface { interface: array.get().interface(py)?.unbind(), _array: array.unbind() };
        Ok(numpy.call_method1(make, (interface, dtype))?)
    }
}

/// What NumPy makes an array of, without asking for `__array__` again.
#[pyclass(frozen)]
struct PyInterface {
    interface: Py<PyDict>,
    _array: Py<DeviceArray>,
}

#[pymethods]
impl PyInterface {
    #[getter]
    fn __array_interface__(&self, py: Python<'_>) -> Py<PyDict> {
        self.interface.clone_ref(py)
    }
}
