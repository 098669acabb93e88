//! Functions for Python, of arrays of NumPy, CuPy, PyTorch and others. They compute where the arrays are, on a GPU or on the CPU, without copies.

use gpukernel::{LazyModule, for_each};
use gpukernel_array::ArrayFunction;
use gpukernel_python::{PyArray, PyArrayMut, Result, dispatch};
use pyo3::prelude::*;

use my_project_kernels as kernels;

/// Loaded on each device when they are first used there.
static KERNELS: LazyModule = LazyModule::new(gpukernel::image!("kernels"));

/// Adds two arrays of float32, float64, int32 or int64, of the same type, which are broadcast. Returns a new array of the library that `x` is of,
/// or writes the sum to `out` and returns that.
#[pyfunction]
#[pyo3(signature = (x, y, out=None))]
fn add<'py>(
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    dispatch!(x, T in [f32, f64, i32, i64] => {
        let (x, y): (PyArray<'py, T>, PyArray<'py, T>) = (x.extract()?, y.extract()?);
        let module = KERNELS.on(x.device())?;
        match out {
            None => x.like(kernels::add::apply(&module, (&x, &y))?),
            Some(object) => {
                let mut out: PyArrayMut<'py, T> = object.extract()?;
                kernels::add::apply_into(&module, (&x, &y), out.view_mut()?)?;
                Ok(object.clone())
            }
        }
    })
}

/// Adds 1 to each element of an array of float32, float64, int32 or int64, in place.
#[pyfunction]
fn add_one(x: &Bound<'_, PyAny>) -> Result<()> {
    dispatch!(x, T in [f32, f64, i32, i64] => {
        let mut x: PyArrayMut<'_, T> = x.extract()?;
        let module = KERNELS.on(x.device())?;
        if let Some(elements) = x.view_mut()?.as_mut_slice() {
            let threads = for_each(elements.len());
            return Ok(module.launch(kernels::add_to_each::<T>, threads, (elements, T::from(1_u8)))?);
        }
        // Elements with others between them, as in every second column of a matrix.
        let sum = kernels::add::apply(&module, (&x, T::from(1_u8)))?;
        Ok(x.view_mut()?.assign(&sum)?)
    })
}

/// Functions of arrays in Rust.
#[pymodule]
fn my_project(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(add, module)?)?;
    module.add_function(wrap_pyfunction!(add_one, module)?)
}
