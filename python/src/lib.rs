//! Arrays of Python libraries as arrays of `gpukernel-array`, and back, without copies, for extensions that are made with [PyO3](pyo3).
//!
//! A function takes [`PyArray`] and [`PyArrayMut`]: objects of NumPy, CuPy, PyTorch, JAX and others that have `__dlpack__`, `__cuda_array_interface__` or the buffer protocol. It computes
//! where they are, on a GPU or, for arrays in the memory of the host, on the CPU device. [`PyArray::like`] returns an array as an object of the same library.
//!
//! ```no_run,standalone_crate
//! use gpukernel_array::{ArrayFunction, add, module};
//! use gpukernel_python::{PyArray, Result};
//! use pyo3::prelude::*;
//!
//! /// Adds two arrays of float32.
//! #[pyfunction]
//! #[pyo3(name = "add")]
//! fn add_arrays<'py>(a: PyArray<'py, f32>, b: PyArray<'py, f32>) -> Result<Bound<'py, PyAny>> {
//!     a.like(add::apply(&module(a.device())?, (&a, &b))?)
//! }
//!
//! #[pymodule]
//! fn my_package(module: &Bound<'_, PyModule>) -> PyResult<()> {
//!     module.add_function(wrap_pyfunction!(add_arrays, module)?)
//! }
//! ```
//!
//! `cargo gpukernel new NAME --template python` makes a package of such functions, with kernels, tests and a wheel.

mod array;
mod borrow;
mod buffer;
mod capsule;
mod device_array;
mod dispatch;
mod error;
mod import;
mod library;

pub use array::{PyArray, PyArrayMut};
pub use device_array::DeviceArray;
pub use error::{Error, Result};

/// Names that the expansion of [`dispatch!`] uses.
#[doc(hidden)]
pub mod __dispatch {
    pub use crate::dispatch::{Element, dtype, is, no_instance};
}
