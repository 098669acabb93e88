//! The libraries whose objects come and go: on which stream they work, and how they take an array.

use std::ffi::c_void;

use pyo3::{intern, prelude::*, types::PyType};

use crate::{DeviceArray, Result};

/// A library of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    /// This extension, by [`DeviceArray`].
    Own,
    NumPy,
    CuPy,
    PyTorch,
    Jax,
    Other,
}

impl Library {
    /// Of an object: that of the first type with a known module, in the order in which Python looks for methods.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> Self {
        if object.is_instance_of::<DeviceArray>() {
            return Self::Own;
        }
        let types = object.get_type().mro();
        let known = types.iter().find_map(|class| {
            let module = class.cast::<PyType>().ok()?.module().ok()?;
            match module.to_str().ok()?.split('.').next()? {
                "numpy" => Some(Self::NumPy),
                "cupy" => Some(Self::CuPy),
                "torch" => Some(Self::PyTorch),
                "jax" | "jaxlib" => Some(Self::Jax),
                _ => None,
            }
        });
        known.unwrap_or(Self::Other)
    }

    /// Whether nobody may write its arrays, which their tensors do not say.
    pub(crate) fn is_immutable(self) -> bool {
        self == Self::Jax
    }

    /// The stream on which the library works now on a GPU, by its handle; `None` if that is not known.
    pub(crate) fn current_stream(self, py: Python<'_>, gpu: usize) -> PyResult<Option<*mut c_void>> {
        let handle: usize = match self {
            Self::PyTorch => {
                let cuda = py.import(intern!(py, "torch"))?.getattr(intern!(py, "cuda"))?;
                cuda.call_method1(intern!(py, "current_stream"), (gpu,))?
                    .getattr(intern!(py, "cuda_stream"))?
                    .extract()?
            }
            Self::CuPy => {
                let cuda = py.import(intern!(py, "cupy"))?.getattr(intern!(py, "cuda"))?;
                cuda.call_method1(intern!(py, "get_current_stream"), (gpu,))?
                    .getattr(intern!(py, "ptr"))?
                    .extract()?
            }
            Self::Own | Self::NumPy | Self::Jax | Self::Other => return Ok(None),
        };
        Ok(Some(std::ptr::with_exposed_provenance_mut(handle)))
    }

    /// An array as an object of this library; of others, by the array namespace of `like` if it has one.
    pub(crate) fn take<'py>(self, like: &Bound<'py, PyAny>, array: DeviceArray) -> Result<Bound<'py, PyAny>> {
        let py = like.py();
        let array = Bound::new(py, array)?.into_any();
        let module = match self {
            Self::Own => return Ok(array),
            // Arrays from its `from_dlpack` are read-only before 2.1. On a GPU, this copies to the host.
            Self::NumPy => {
                return Ok(py
                    .import(intern!(py, "numpy"))?
                    .call_method1(intern!(py, "asarray"), (array,))?);
            }
            Self::CuPy => py.import(intern!(py, "cupy"))?.into_any(),
            Self::PyTorch => py.import(intern!(py, "torch"))?.into_any(),
            Self::Jax | Self::Other => match like.getattr_opt(intern!(py, "__array_namespace__"))? {
                Some(namespace) => namespace.call0()?,
                None => return Ok(array),
            },
        };
        Ok(module.call_method1(intern!(py, "from_dlpack"), (array,))?)
    }
}
