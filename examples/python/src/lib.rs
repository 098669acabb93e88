//! A Python module with functions of NumPy, CuPy and PyTorch arrays, which compute where the arrays are, on a GPU or on the CPU, without copies. `README.md` says how to build and use it;
//! `array_functions.pyi` has the types that editors show.

mod argument;

use gpu_std::DeviceCopy;
use gpukernel::{LazyModule, for_each};
use gpukernel_array::{Array, ArrayFunction, ArrayPipeline, ArrayView, add};
use gpukernel_python::{PyArray, PyArrayMut, Result, dispatch};
use ndarray::IxDyn;
use pyo3::prelude::*;

use argument::ArrayOrNumber;
use python_kernels as kernels;

/// Loaded on each device when they are first used there.
static KERNELS: LazyModule = LazyModule::new(gpukernel::image!("kernels"));

/// The prices of European call options, by the formula of Black and Scholes.
///
/// `stock` is an array of float32 or float64; the others are arrays of the same type, or numbers. They are broadcast. `rate` and `volatility` are those of a year. Returns a new array of
/// the library that `stock` is of, or writes the prices to `out` and returns that.
#[pyfunction]
#[pyo3(signature = (stock, strike, years, rate, volatility, out=None))]
fn call_price<'py>(
    stock: &Bound<'py, PyAny>,
    strike: &Bound<'py, PyAny>,
    years: &Bound<'py, PyAny>,
    rate: &Bound<'py, PyAny>,
    volatility: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    dispatch!(stock, T in [f32, f64] => {
        let stock: PyArray<'py, T> = stock.extract()?;
        let strike: ArrayOrNumber<'py, T> = strike.extract()?;
        let years: ArrayOrNumber<'py, T> = years.extract()?;
        let rate: ArrayOrNumber<'py, T> = rate.extract()?;
        let volatility: ArrayOrNumber<'py, T> = volatility.extract()?;
        let module = KERNELS.on(stock.device())?;
        let arguments = (&stock, &strike, &years, &rate, &volatility);
        match out {
            None => stock.like(kernels::call_price::apply(&module, arguments)?),
            Some(object) => {
                let mut out: PyArrayMut<'py, T> = object.extract()?;
                kernels::call_price::apply_into(&module, arguments, out.view_mut()?)?;
                Ok(object.clone())
            }
        }
    })
}

/// The softmax along the last axis of an array of float32 or float64, as a new array.
#[pyfunction]
fn softmax<'py>(x: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    dispatch!(x, T in [f32, f64] => {
        let x: PyArray<'py, T> = x.extract()?;
        let module = KERNELS.on(x.device())?;
        let result = in_order(&x.view(), |x| kernels::softmax::call(&module, x))?;
        // A pipeline takes all axes but the last as rows.
        x.like(result.into_shape(IxDyn(x.shape()))?)
    })
}

/// The sum of the elements of an array of float32, float64, int32 or int64, as a new array of no axes, which stays where `x` is.
#[pyfunction]
fn sum<'py>(x: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    dispatch!(x, T in [f32, f64, i32, i64] => {
        let x: PyArray<'py, T> = x.extract()?;
        let module = KERNELS.on(x.device())?;
        x.like(in_order(&x.view(), |x| kernels::sum::call(&module, x))?)
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
        // Elements with others between them, by a function that ships with gpukernel-array.
        let sum = add::apply(&gpukernel_array::module(x.device())?, (&x, T::from(1_u8)))?;
        Ok(x.view_mut()?.assign(&sum)?)
    })
}

/// The address at which a function finds the first element of an array of float32, float64, int32 or int64: that of the caller's memory.
#[pyfunction]
fn address(x: &Bound<'_, PyAny>) -> Result<usize> {
    dispatch!(x, T in [f32, f64, i32, i64] => {
        let x: PyArray<'_, T> = x.extract()?;
        Ok(x.view().interface()?.data.0)
    })
}

/// A copy of an array of float32, float64, int32 or int64 as a new array, and the address of the memory that was allocated for it.
#[pyfunction]
fn copied<'py>(x: &Bound<'py, PyAny>) -> Result<(Bound<'py, PyAny>, usize)> {
    dispatch!(x, T in [f32, f64, i32, i64] => {
        let x: PyArray<'py, T> = x.extract()?;
        let mut copy = x.view().to_owned()?;
        let address = copy.interface()?.data.0;
        Ok((x.like(copy)?, address))
    })
}

/// Gives an array to a pipeline, which reads elements in the order of memory: those of a transposed array, or of every other column, are copied first, on their device.
fn in_order<T: DeviceCopy, R>(
    x: &ArrayView<'_, T, IxDyn>,
    call: impl FnOnce(&ArrayView<'_, T, IxDyn>) -> gpukernel_array::Result<R>,
) -> gpukernel_array::Result<R> {
    if x.is_standard_layout() {
        return call(x);
    }
    let copy: Array<T, IxDyn> = x.to_owned()?;
    call(&copy.view())
}

/// Functions of NumPy, CuPy and PyTorch arrays in Rust, which compute where the arrays are, without copies.
#[pymodule]
fn array_functions(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(call_price, module)?)?;
    module.add_function(wrap_pyfunction!(softmax, module)?)?;
    module.add_function(wrap_pyfunction!(sum, module)?)?;
    module.add_function(wrap_pyfunction!(add_one, module)?)?;
    module.add_function(wrap_pyfunction!(address, module)?)?;
    module.add_function(wrap_pyfunction!(copied, module)?)
}
