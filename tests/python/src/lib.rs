//! Functions that borrow arrays in every way, for tests in Python.

use gpu_std::{complex::Complex, half::f16};
use gpukernel::Device;
use gpukernel_array::{Array, ArrayFunction, div, module};
use gpukernel_python::{DeviceArray, PyArray, PyArrayMut, Result};
use ndarray::{Ix2, IxDyn, s};
use pyo3::prelude::*;

/// The numbers from 0 on as float64, in a shape.
#[pyfunction]
fn arange(shape: Vec<usize>, device: &str) -> Result<DeviceArray> {
    let len: usize = shape.iter().product();
    let numbers: Vec<f64> = (0..len).map(|number| number as f64).collect();
    Ok(DeviceArray::new(Array::from_shape_vec(&Device::from_name(device)?, IxDyn(&shape), numbers)?))
}

/// The elements of an array of float64 in row-major order.
#[pyfunction]
fn elements(x: PyArray<'_, f64>) -> Result<Vec<f64>> {
    Ok(x.view().to_vec()?)
}

/// The same, without the interpreter.
#[pyfunction]
fn elements_detached(py: Python<'_>, x: PyArray<'_, f64>) -> Result<Vec<f64>> {
    let view = x.view();
    Ok(py.detach(|| view.to_vec())?)
}

#[pyfunction]
fn rows(x: PyArray<'_, f64, Ix2>) -> usize {
    x.shape()[0]
}

#[pyfunction]
fn bytes(x: PyArray<'_, u8>) -> Result<Vec<u8>> {
    Ok(x.view().to_vec()?)
}

/// The last byte of many.
#[pyfunction]
fn last_byte(x: PyArray<'_, u8, ndarray::Ix1>) -> Result<(usize, u8)> {
    Ok((x.view().len(), x.view().slice(s![-1..])?.to_vec()?[0]))
}

#[pyfunction]
fn halves(x: PyArray<'_, f16>) -> Result<Vec<f32>> {
    Ok(x.view().to_vec()?.into_iter().map(f32::from).collect())
}

#[pyfunction]
fn parts(x: PyArray<'_, Complex<f32>>) -> Result<Vec<(f32, f32)>> {
    Ok(x.view().to_vec()?.into_iter().map(|z| (z.re, z.im)).collect())
}

#[pyfunction]
fn fill(mut x: PyArrayMut<'_, f64>, value: f64) -> Result<()> {
    Ok(x.view_mut()?.assign(value)?)
}

/// Copies an array to another.
#[pyfunction]
fn copy(x: PyArray<'_, f64>, mut to: PyArrayMut<'_, f64>) -> Result<()> {
    Ok(to.view_mut()?.assign(&x)?)
}

/// Divides an array, to another, by a kernel that panics if the number is 0, and waits for it or not.
#[pyfunction]
fn divide(x: PyArray<'_, i32>, by: i32, mut to: PyArrayMut<'_, i32>, waits: bool) -> Result<()> {
    div::apply_into(&module(x.device())?, (&x, by), to.view_mut()?)?;
    if waits {
        x.device().synchronize()?;
    }
    Ok(())
}

/// A copy, as an object of the same library.
#[pyfunction]
fn copied<'py>(x: PyArray<'py, f64>) -> Result<Bound<'py, PyAny>> {
    x.like(x.view().to_owned()?)
}

/// The address of the first element of an array that is borrowed for reading.
#[pyfunction]
fn address(x: PyArray<'_, f64>) -> Result<usize> {
    Ok(x.view().interface()?.data.0)
}

/// The address of the first element of an array that is borrowed for writing.
#[pyfunction]
fn address_for_writing(mut x: PyArrayMut<'_, f64>) -> Result<usize> {
    Ok(x.view_mut()?.interface()?.data.0)
}

/// Calls a function while an array is borrowed.
#[pyfunction]
fn while_read<'py>(x: PyArray<'py, f64>, function: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    let result = function.call0()?;
    drop(x);
    Ok(result)
}

/// Calls a function while an array is borrowed for writing.
#[pyfunction]
fn while_written<'py>(x: PyArrayMut<'py, f64>, function: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    let result = function.call0()?;
    drop(x);
    Ok(result)
}

/// Panics while an array is borrowed for writing.
#[pyfunction]
fn panic(x: PyArrayMut<'_, f64>) {
    panic!("of shape {:?}", x.shape());
}

/// How many buffers of the device there are.
#[pyfunction]
fn buffers(device: &str) -> Result<u64> {
    Ok(Device::from_name(device)?.memory_info().buffers)
}

/// Whether there is a GPU.
#[pyfunction]
fn has_gpu() -> Result<bool> {
    Ok(Device::best()?.is_gpu())
}

#[pyfunction]
fn gpus() -> Result<usize> {
    Ok(gpukernel::devices()?.iter().filter(|device| device.is_gpu()).count())
}

#[pymodule]
fn gpukernel_python_tests(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<DeviceArray>()?;
    module.add_function(wrap_pyfunction!(arange, module)?)?;
    module.add_function(wrap_pyfunction!(elements, module)?)?;
    module.add_function(wrap_pyfunction!(elements_detached, module)?)?;
    module.add_function(wrap_pyfunction!(rows, module)?)?;
    module.add_function(wrap_pyfunction!(bytes, module)?)?;
    module.add_function(wrap_pyfunction!(last_byte, module)?)?;
    module.add_function(wrap_pyfunction!(halves, module)?)?;
    module.add_function(wrap_pyfunction!(parts, module)?)?;
    module.add_function(wrap_pyfunction!(fill, module)?)?;
    module.add_function(wrap_pyfunction!(copy, module)?)?;
    module.add_function(wrap_pyfunction!(divide, module)?)?;
    module.add_function(wrap_pyfunction!(copied, module)?)?;
    module.add_function(wrap_pyfunction!(address, module)?)?;
    module.add_function(wrap_pyfunction!(address_for_writing, module)?)?;
    module.add_function(wrap_pyfunction!(while_read, module)?)?;
    module.add_function(wrap_pyfunction!(while_written, module)?)?;
    module.add_function(wrap_pyfunction!(panic, module)?)?;
    module.add_function(wrap_pyfunction!(buffers, module)?)?;
    module.add_function(wrap_pyfunction!(has_gpu, module)?)?;
    module.add_function(wrap_pyfunction!(gpus, module)?)
}
